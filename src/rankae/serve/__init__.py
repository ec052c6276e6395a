"""The HTTP service and the tagging desk.

settings    what the service was started with: one dataclass, also handed to worker processes
server      sockets, worker processes, a graceful stop
app         the routes put together, with the guard around them
guard       who may enter, how large a request may be, what headers every answer carries
models      the models that are served, and how a retrained one takes the place of the old
work        a bounded queue and the threads that compute
store       decisions and uploads in SQLite
routes/     one file a face: our own API, Annif's, Open Inference, Label Studio, the desk
page/       the desk page itself, as the browser gets it
"""
