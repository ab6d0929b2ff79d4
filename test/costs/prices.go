package main

import "math"

// The list prices of us-east-1 in dollars, without free tiers and taxes, of
// November 2026. To compute with others, change them here, run the tests, and
// copy the output to docs/operations.md.
var (
	// https://aws.amazon.com/api-gateway/pricing/
	apiRequest = tiers{{300e6, 1.00e-6}, {math.Inf(1), 0.90e-6}} // per 512 KB of response

	// https://aws.amazon.com/lambda/pricing/
	invocation = tiers{{math.Inf(1), 0.20e-6}}
	gbSecond   = tiers{{7.5e9, 0.0000133334}, {11.25e9, 0.0000120001}, {math.Inf(1), 0.0000106667}} // on arm64

	// https://aws.amazon.com/dynamodb/pricing/on-demand/
	writeUnit  = tiers{{math.Inf(1), 0.625e-6}}
	readUnit   = tiers{{math.Inf(1), 0.125e-6}}
	storedGB   = tiers{{math.Inf(1), 0.25}}
	recoveryGB = tiers{{math.Inf(1), 0.20}} // point-in-time recovery, of the table alone

	// https://aws.amazon.com/dynamodb/pricing/provisioned/: one a second for an hour
	provisionedWriteUnit = 0.00065 / 3600

	// https://aws.amazon.com/cloudwatch/pricing/: logs of Lambda and API Gateway
	logGB = tiers{{10e3, 0.50}, {20e3, 0.25}, {20e3, 0.10}, {math.Inf(1), 0.05}}

	// https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer
	egressGB = tiers{{10e3, 0.09}, {40e3, 0.085}, {100e3, 0.07}, {math.Inf(1), 0.05}}
)

// tiers are the sizes of a price's tiers and their prices per unit.
type tiers []struct{ size, price float64 }

// cost returns the price of n units.
func (t tiers) cost(n float64) (sum float64) {
	for _, tier := range t {
		part := min(n, tier.size)
		sum += part * tier.price
		n -= part
	}
	return sum
}

// A usage is what AWS charges for.
type usage struct {
	requests, gbSeconds, writes, reads, logGB, egressGB float64
	storedGB, recoveryGB                                float64
}

// times returns n times u.
func (u usage) times(n float64) usage {
	return usage{
		u.requests * n, u.gbSeconds * n, u.writes * n, u.reads * n, u.logGB * n, u.egressGB * n,
		u.storedGB * n, u.recoveryGB * n,
	}
}

// cost returns the price of u by service, in the order of services.
func (u usage) cost() [6]float64 {
	return [6]float64{
		apiRequest.cost(u.requests),
		invocation.cost(u.requests) + gbSecond.cost(u.gbSeconds),
		writeUnit.cost(u.writes) + readUnit.cost(u.reads),
		storedGB.cost(u.storedGB) + recoveryGB.cost(u.recoveryGB),
		logGB.cost(u.logGB),
		egressGB.cost(u.egressGB),
	}
}

var services = [6]string{"HTTP API", "Lambda", "DynamoDB, requests", "DynamoDB, storage", "CloudWatch Logs", "data transfer out"}

func (u usage) total() (sum float64) {
	for _, c := range u.cost() {
		sum += c
	}
	return sum
}
