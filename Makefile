# The commands that people and CI run. `make help` lists them.

.PHONY: help run test check check-size ci fuzz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# need stops make unless the command $1, from the address $2, is installed.
need = command -v $1 >/dev/null || { echo 'make $@ needs $1: install it from $2' >&2; exit 1; }

# Flags for run, only from make's command line: people export ARGS for other work.
ARGS :=

# This doesn't use go run, which exits with 1 after Ctrl-C even if the service has stopped
# cleanly. Like go run, it doesn't ask git, which fails in a clone that belongs to another user.
run: ## run the service on this machine: ARGS='-addr 127.0.0.1:8081'
	@$(call need,go,https://go.dev/dl/)
	@go build -buildvcs=false -o bin/ ./cmd/local && exec bin/local $(ARGS)

test: ## run all tests
	go test -timeout 30m ./...

# The tools have their own go.mod, so the service's lists only what the service and its
# tests import. Go refuses -modfile in a workspace, and a parent folder may have a go.work.
TOOL = env GOWORK=off go tool -modfile=.ci/tools/go.mod

check: check-size ## check formatting, vet, staticcheck, races, go.mod, workflows, other systems and the package's size
	! "$$(go env GOROOT)/bin/gofmt" -l */ | grep .
	go vet ./...
	$(TOOL) staticcheck ./...
	$(TOOL) actionlint .github/workflows/*.yml
	go mod tidy -diff
	GOOS=linux GOARCH=arm64 go build -buildvcs=false -o /dev/null ./...
	GOOS=darwin go vet ./...
	GOOS=windows GOARCH=386 go vet ./...
	go test -race -timeout 60m ./...

# Lambda downloads the package for each cold start, so it must be small. The limit is in bytes.
MAX_SIZE = 5242880

check-size: ARTIFACTS_DIR = bin
check-size: build-PlantFunction ## check the size of the function's package
	@size=$$(gzip -c "$(ARTIFACTS_DIR)/bootstrap" | wc -c) && echo "the package has $$size bytes, of $(MAX_SIZE)" && \
	[ "$$size" -le $(MAX_SIZE) ]

ci: check ## run what .github/workflows/ci.yml runs with the newer Go release

FUZZTIME ?= 1m

fuzz: ## run every fuzz test for FUZZTIME
	@grep -rE '^func Fuzz' ./cmd ./internal | sed -E 's#^(.*)/[^/]*:func (Fuzz[A-Za-z0-9]*).*#\1 \2#' | \
		while read -r folder name; do \
			echo "$$name in $$folder" && go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$folder" || exit 1; \
		done

# test:drop
.PHONY: acceptance acceptance-stack api-compat bench contract deployment docker issuers snapshot

# Issuers and deployment are left out, since they download much. Without arguments, .ci/run
# runs them too.
ci: api-compat contract docker

# Environment variables specify the users: see TestDeployment in test/e2e.
acceptance: ## run the session of test/session against a deployment: BASE=https://… TOKEN_URL=https://…
	@test -n '$(BASE)' || { echo 'BASE is empty: make acceptance BASE=https://…' >&2; exit 1; }
	go test ./test/e2e -run '^TestDeployment$$' -v -base '$(BASE)' -token-url '$(TOKEN_URL)'

acceptance-stack: ## run the session of test/session against the deployed stack
	test/e2e/stack.sh '$(STACK)'

ROUNDS ?= 30

bench: ## measure the times in docs/costs.md; needs Linux
	go run ./test/bench -rounds $(ROUNDS)
	go test -run '^$$' -bench . ./internal/handlers ./internal/bolt

api-compat: ## check that api/openapi.yaml breaks no client of the last version
	test/contract/compat.sh $(TOOL) oasdiff

SEED ?= 1

# These tests take minutes. The tag keeps them out of `go test ./...`.
contract: ## test the service with generated requests (SEED=n) and clients; needs Python, Java 17, Maven, npm
	go vet -tags contract ./test/contract
	$(TOOL) staticcheck -tags contract ./test/contract
	go test -tags contract -count=1 -timeout 30m -v ./test/contract -seed $(SEED)

# These tests need a Docker engine. The tag keeps them out of `go test ./...`.
docker: ## build and run the image of the plain server, and run the function with sam local; needs Docker and Python
	go vet -tags docker ./test/e2e
	$(TOOL) staticcheck -tags docker ./test/e2e
	go test -tags docker -count=1 -timeout 30m -v -run '^TestDocker' ./test/e2e

# These tests download hundreds of megabytes. The tag keeps them out of `go test ./...`.
issuers: ## test tokens from Keycloak; needs Java 17, Maven
	go vet -tags issuers ./test/issuers
	$(TOOL) staticcheck -tags issuers ./test/issuers
	go test -tags issuers -count=1 -timeout 30m -v ./test/issuers

# These tests download a stand-in for AWS. The tag keeps them out of `go test ./...`.
deployment: ## deploy to a stand-in for AWS, with the commands of the pages; needs Python
	go vet -tags deployment ./test/deployment
	$(TOOL) staticcheck -tags deployment ./test/deployment
	go test -tags deployment -count=1 -timeout 30m -v ./test/deployment

# With CI=true, the test fails if Python is missing. Otherwise it would be skipped.
snapshot: ## rewrite the snapshots of template.yaml in test/template/testdata; needs Python
	CI=true go test ./test/template -count=1 -timeout 30m -run '^TestSnapshot$$' -args -update

# drop:end
# The targets for Lambda. CONFIG_ENV=production selects that profile of samconfig.toml, as
# sam's --config-env does.

.PHONY: build-PlantFunction build deploy logs delete dynamodb start-api

CONFIG_ENV ?= default
STACK ?= $(if $(filter production,$(CONFIG_ENV)),plants-production,plants)

# The function's processor architecture, as in Architectures in template.yaml. Only make's
# command line changes it: people export GOARCH, for example, for other work.
FUNCTION_ARCH := arm64

# sam build runs this target in a copy of the repository. Variables that people export for other
# work must not change the function. (An empty GOFLAGS wouldn't override that of go env -w.)
# Lambda runs the function as another user, and SAM keeps the mode that a strict umask gives it.
build-PlantFunction:
	GOFLAGS=-trimpath GOEXPERIMENT= GOFIPS140=off GOAMD64=v1 GOARM64=v8.0 GOWORK=off \
		CGO_ENABLED=0 GOOS=linux GOARCH=$(FUNCTION_ARCH) go build -tags lambda.norpc -buildvcs=false \
		-ldflags "-s -w" -o "$(ARTIFACTS_DIR)/bootstrap" ./cmd/lambda
	chmod 755 "$(ARTIFACTS_DIR)/bootstrap"

# The commit, with a + if files have changed since, and the time: 09d7e83+.261123061200.
# The time makes every build a new version: see Description of PlantFunction.
COMMIT = $(or $(shell git describe --always --exclude='*' --abbrev=7),unknown)
CHANGED = $(if $(shell git status --porcelain --untracked-files=normal),+)
REVISION = $(if $(TRACKED),$(COMMIT)$(CHANGED),unknown).$(shell date -u +%y%m%d%H%M%S)

# Whether git tracks this folder: an unpacked ZIP may be in another repository, or in none. The dot
# stands for a parenthesis, which make would count.
NO_REPOSITORY = $(shell LC_ALL=C git rev-parse 2>&1 | grep '^fatal: not a git repository .or ')
TRACKED = $(if $(NO_REPOSITORY),,$(shell git ls-files Makefile))

SAM_CLI = https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/install-sam-cli.html

# The sed writes the revision into the built template.
build: ## build the function in .aws-sam/build
	@$(call need,go,https://go.dev/dl/)
	@$(call need,sam,$(SAM_CLI))
	sam build
	sed -i.sam 's/Revision: unknown$$/Revision: "$(REVISION)"/' .aws-sam/build/template.yaml
	@go version .aws-sam/build/PlantFunction/bootstrap

deploy: build ## build and deploy; CONFIG_ENV=production for a production stack
	sam deploy --config-env '$(CONFIG_ENV)'

logs: ## follow the logs of the function and the API
	@$(call need,sam,$(SAM_CLI))
	sam logs --stack-name '$(STACK)' --tail

delete: ## delete the stack, but keep the table and the user pool
	@$(call need,sam,$(SAM_CLI))
	@echo 'This deletes the stack "$(STACK)". Its table and its user pool remain.'
	sam delete --config-env '$(CONFIG_ENV)' --stack-name '$(STACK)'

dynamodb: ## run DynamoDB Local in Docker, with the same tables for all regions and keys
	docker run --rm -p 8000:8000 docker.io/amazon/dynamodb-local -jar DynamoDBLocal.jar -inMemory -sharedDb

LOCAL_ISSUER ?= http://127.0.0.1:8080
LOCAL_DYNAMODB ?= http://host.docker.internal:8000

# This builds for this machine's processor, and changes the built template accordingly, so
# that Docker needn't emulate another processor. It builds in a separate folder, since
# sam deploy deploys .aws-sam/build. MAKEFLAGS is the command line of the make that sam runs.
HOST_GOARCH = $(shell go env GOHOSTARCH)

start-api: ## run the function with sam local at http://127.0.0.1:3000; needs the plain server, on DynamoDB Local
	@$(call need,docker,https://docs.docker.com/get-docker/)
	@$(call need,sam,$(SAM_CLI))
	@$(call need,curl,https://curl.se/download.html)
	@keys=$$(curl -sSf $(LOCAL_ISSUER)/.well-known/jwks.json | sed 's/"/\\"/g') && test -n "$$keys" || \
		{ echo 'no keys at $(LOCAL_ISSUER): first start the plain server there, which issues the tokens' >&2; exit 1; }; \
	mkdir -p .aws-sam && printf '{"Parameters": {"TABLE_NAME": "plants", "AWS_ENDPOINT_URL_DYNAMODB": "%s", '\
	'"TOKEN_ISSUER": "%s", "TOKEN_AUDIENCE": "%s", "TOKEN_JWKS": "%s"}}\n' \
		'$(LOCAL_DYNAMODB)' 'urn:plantstore:local' 'plants' "$$keys" > .aws-sam/env.json
	MAKEFLAGS=FUNCTION_ARCH=$(HOST_GOARCH) sam build --build-dir .aws-sam/local
	sed -i.sam 's/- arm64$$/- $(if $(filter amd64,$(HOST_GOARCH)),x86_64,arm64)/' .aws-sam/local/template.yaml
	sam local start-api --template .aws-sam/local/template.yaml --env-vars .aws-sam/env.json \
		--add-host host.docker.internal:host-gateway --warm-containers LAZY
