// Package e2e tests the programs from outside: the plain server, the Lambda function behind
// a local HTTP API and, with the tag docker, the server's image and sam local. On each it
// runs the requests of package session. TestDeployment runs them on a deployment: see
// "make acceptance".
package e2e
