# The plain server in an image. docs/deployment.md shows how to build and run it.

# The newest patch of the release that the workflows use.
ARG GO_IMAGE=docker.io/library/golang:1.27
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# For -version, since .dockerignore leaves out the repository.
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.release=$VERSION" -o /out/plantstore ./cmd/local && \
    mkdir /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/plantstore /
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/plantstore", "-addr", "0.0.0.0:8080", "-data", "/data"]
