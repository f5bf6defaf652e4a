# A server for surveys.
#
#   docker build -t naysay .
#   docker run -v naysay:/data -p 127.0.0.1:8000:8000 -e FORWARDED_ALLOW_IPS=172.17.0.1 naysay survey.xlsx
#
# with survey.xlsx in the volume; 172.17.0.1 is where a proxy on the same computer comes from (see docs/how-to/serve.md). For PostgreSQL add -e NAYSAY_DB=postgresql://USER:PASSWORD@HOST/DATABASE.

FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /naysay \
    && /naysay/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt ".[collect]"

FROM python:3.13-slim
COPY --from=build /naysay /naysay
RUN useradd --system --uid 10001 --no-create-home naysay && install -d -o naysay -g naysay -m 0700 /data
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
ENV PYTHONDONTWRITEBYTECODE=1
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=20s \
    CMD ["/naysay/bin/python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=5)"]
ENTRYPOINT ["/naysay/bin/naysay", "serve", "--host", "0.0.0.0", "--data", "/data"]
