# Situs as an image: built from this folder, run as nobody in particular. docs/operating.md has the commands.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY datasets ./datasets
COPY scripts ./scripts
COPY workers ./workers
COPY src ./src
RUN npm run --silent build \
  && node dist/scripts/slim-modules.js \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 SITUS_VAR=/var/lib/situs SITUS_DRAIN_SECONDS=5
RUN install -d -o 1000 -g 1000 -m 0700 /var/lib/situs
WORKDIR /opt/situs
COPY LICENSE ./
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/datasets ./datasets
COPY --from=build /build/dist/workers ./dist/workers
COPY --from=build /build/dist/src ./dist/src
VOLUME ["/var/lib/situs"]
EXPOSE 3000
# The user "node" of the base image; by number, so that "not root" can be told without starting it.
USER 1000:1000
STOPSIGNAL SIGTERM
# The first start builds a dataset, and is not ready before. No certificate is for the address that is asked.
HEALTHCHECK --interval=30s --timeout=5s --start-period=180s --retries=3 \
  CMD ["node", "-e", "const { PORT, SITUS_TLS_CERT: cert } = process.env; process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(`http${cert ? 's' : ''}://127.0.0.1:${PORT}/system/ready`).then((told) => process.exit(told.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
