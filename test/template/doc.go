// Package template tests what is deployed: template.yaml and samconfig.toml.
//
// The template is translated as CloudFormation translates it, for one set of
// parameters after another, and the intrinsic functions are evaluated. What is
// then left, the resources of a stack, is held against the program: the schema
// of its table, the calls that it makes, the environment that it reads. Each
// check is seen to fail, on templates that are wrong in one place.
package template
