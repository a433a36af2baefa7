# The gateway without a shell, as a user without rights: docker build --tag sluice .
# docs/docker.md says how to run it. A release gives BASE and LAST with their digests.
ARG BASE=node:26.10.0-trixie-slim
ARG LAST=gcr.io/distroless/cc-debian13:nonroot

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY engine/runtime/package.json engine/runtime/
COPY console/package.json console/
# Without the workspace engine/runtime, which brings a second Node.js. No package runs a script.
RUN npm ci --ignore-scripts --workspace=console --include-workspace-root --no-audit --no-fund --loglevel=error
COPY . .
# The last line leaves out what only compilers and editors read.
RUN npm run --silent build \
 && npm prune --omit=dev --ignore-scripts --workspaces=false --no-audit --no-fund --loglevel=error \
 && rm -rf dist/types config/packaging node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
 && find dist node_modules -name '*.d.ts' -delete \
 && mkdir empty

FROM ${LAST}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="A self-hosted model gateway whose every endpoint is a YAML pipeline you can read, check and change." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /usr/local/bin/node /nodejs/bin/node
# Node.js needs it, and the last image lacks it.
COPY --from=build /usr/lib/*-linux-gnu/libatomic.so.1* /usr/lib/
COPY --from=build /app/package.json /app/LICENSE /app/
COPY --from=build /app/engine/bin /app/engine/bin
COPY --from=build /app/dist /app/dist
COPY --from=build /app/config /app/config
COPY --from=build /app/pipelines /app/pipelines
COPY --from=build /app/node_modules /app/node_modules
WORKDIR /srv
COPY --from=build --chown=65532:65532 /app/empty /srv/data
ENV HOST=0.0.0.0 NODE_ENV=production
USER 65532:65532
VOLUME ["/srv/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s CMD ["/nodejs/bin/node", "/app/engine/bin/sluice.cjs", "health"]
ENTRYPOINT ["/nodejs/bin/node", "/app/engine/bin/sluice.cjs"]
CMD ["serve"]
