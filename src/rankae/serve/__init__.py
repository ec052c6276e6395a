"""The HTTP service and the tagging desk.

settings    the options of the service in one dataclass, which worker processes receive too
server      sockets, worker processes, graceful shutdown
app         the ASGI application: all routes behind the guard
guard       access tokens, limits on requests, security headers
models      the served models, and replacing one by its retrained version
work        a bounded queue and the threads that compute
store       decisions and uploads in SQLite
routes/     one file for each API: our own, Annif's, Open Inference, Label Studio, the desk
page/       the files of the desk page
"""
