"""What the benchmarks of speed share: the data as one matrix, the systems, a process for each measurement, tables."""
