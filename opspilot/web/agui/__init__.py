"""The AG-UI protocol (version 1.0), by which chat front-ends of others connect: `POST /agui`."""
