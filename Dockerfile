# Builds Hesper and packs what it needs to run: `docker build -t hesper .`, then
#     docker run -p 127.0.0.1:8080:8080 -v hesper:/var/lib/hesper hesper
FROM swift:6.2-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        libsqlite3-dev libarchive-dev libcurl4-openssl-dev libpq-dev libssl-dev libxml2-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /hesper
# Packages are fetched again only when Package.swift changes.
COPY Package.swift ./
RUN swift package resolve
COPY . .
RUN swift build -c release --product hesper --static-swift-stdlib && strip .build/release/hesper

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates libsqlite3-0 libarchive13 libcurl4 libpq5 libssl3 libstdc++6 libxml2 zlib1g tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && adduser --system --group --home /var/lib/hesper hesper && chmod 700 /var/lib/hesper
COPY --from=build /hesper/.build/release/hesper /usr/bin/
COPY Public /usr/share/hesper/Public
COPY openapi.yaml /usr/share/hesper/
USER hesper
VOLUME /var/lib/hesper
EXPOSE 8080
# In a container loopback is nobody's: it listens to all, so that sign-up is closed unless HESPER_SIGN_UP says otherwise.
ENV HESPER_DATA=/var/lib/hesper HESPER_HOST=0.0.0.0
# For plain HTTP, as behind a proxy. With TLS in the container, run it with --no-healthcheck.
HEALTHCHECK --start-period=30s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${HESPER_PORT:-8080} && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["/usr/bin/hesper"]
CMD ["serve"]
