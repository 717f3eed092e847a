"""Serves a model file on loopback: `small_model.py FILE PORT`, in the environment that scripts/peers makes."""

import sys
from threading import Event

import xllamacpp  # type: ignore[import-not-found]

options = xllamacpp.CommonParams()
options.model.path = sys.argv[1]
options.hostname = "127.0.0.1"
options.port = int(sys.argv[2])
options.n_ctx = 4096
options.n_parallel = 1
options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 2
options.use_jinja = True
server = xllamacpp.Server(options)
Event().wait()
