"""Forests of label-ranking trees, on which FastXML and PfastreXML stand."""
