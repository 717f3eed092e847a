# The worker, and with it the command line: docker compose exec worker opspilot ask "…"
FROM python:3.11.14-slim-bookworm

WORKDIR /app
COPY requirements/runtime.txt requirements/
RUN pip install --no-cache-dir --no-deps --require-hashes --requirement requirements/runtime.txt

COPY pyproject.toml README.md opspilot.toml starter.py worker.py ./
COPY activities activities
COPY opspilot opspilot
COPY workflows workflows
RUN pip install --no-cache-dir --no-deps --no-build-isolation --no-index --editable . \
    && useradd --uid 10001 --create-home opspilot \
    && install --directory --owner opspilot /var/lib/opspilot

COPY --chown=opspilot examples examples

USER opspilot
ENV OPSPILOT_STATE_DIR=/var/lib/opspilot PYTHONUNBUFFERED=1
CMD ["python", "worker.py"]
