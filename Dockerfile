# The web page and the API of diagnose: docker build -t diagnose . && docker run -p 8000:8000 diagnose
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY kb kb
COPY src src
RUN python -m venv /opt/diagnose \
 && /opt/diagnose/bin/pip install --no-cache-dir --disable-pip-version-check '.[server]'

FROM python:3.12-slim
RUN useradd --system --no-create-home --shell /usr/sbin/nologin diagnose
COPY --from=build /opt/diagnose /opt/diagnose
ENV PATH=/opt/diagnose/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER diagnose
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
# /dev/shm: the heartbeat file of a worker, because a container's /tmp may be on a slow disk.
CMD ["gunicorn", "--config", "python:diagnose.web.deployment", "--bind", "0.0.0.0:8000", "--workers", "2", "--worker-tmp-dir", "/dev/shm", "--access-logfile", "-", "diagnose.web:create_app()"]
