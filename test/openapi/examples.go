package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bodies returns the named examples of the bodies of answers, or of requests,
// as JSON. A name that stands for two different examples is an error.
func (d *Document) Bodies(ofAnswers bool) (map[string][]byte, error) {
	all := map[string][]byte{}
	collect := func(pointer string) error {
		pointer += "/content/" + escape(mediaType) + "/examples"
		for _, name := range members(d.At(pointer)) {
			body, err := json.Marshal(d.At(pointer + "/" + name + "/value"))
			if err != nil {
				return err
			}
			if first, ok := all[name]; ok && string(first) != string(body) {
				return fmt.Errorf("the examples %s differ: %s and %s", name, first, body)
			}
			all[name] = body
		}
		return nil
	}
	var errs []error
	if ofAnswers {
		errs = append(errs, d.eachResponse(otherResponses, collect))
	}
	for _, path := range members(d.root["paths"]) {
		for _, method := range members(d.At("/paths/" + escape(path))) {
			op := "/paths/" + escape(path) + "/" + method
			if ofAnswers {
				errs = append(errs, d.eachResponse(op+"/responses", collect))
			} else {
				errs = append(errs, collect(op+"/requestBody"))
			}
		}
	}
	return all, errors.Join(errs...)
}

func (d *Document) eachResponse(pointer string, f func(pointer string) error) error {
	for _, status := range members(d.At(pointer)) {
		if err := f(pointer + "/" + status); err != nil {
			return err
		}
	}
	return nil
}

// CheckExamples checks every example in the document against its schema.
func (d *Document) CheckExamples() error {
	return d.checkExamples(newCompiler(d.root), "", d.root)
}

// checkExamples checks the examples in the value at the pointer.
func (d *Document) checkExamples(c *jsonschema.Compiler, pointer string, value any) error {
	var errs []error
	check := func(schema string, examples ...any) {
		for _, example := range examples {
			if err := d.checkExample(c, schema, example); err != nil {
				errs = append(errs, fmt.Errorf("the example at %s: %w", pointer, err))
			}
		}
	}
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			errs = append(errs, d.checkExamples(c, pointer+"/"+strconv.Itoa(i), element))
		}
	case map[string]any:
		if example, ok := value["example"]; ok {
			check(pointer+"/schema", example)
		}
		if examples, ok := value["examples"].([]any); ok {
			check(pointer, examples...)
		}
		if examples, ok := value["examples"].(map[string]any); ok {
			for _, name := range members(examples) {
				check(pointer+"/schema", d.At(pointer+"/examples/"+name+"/value"))
			}
		}
		for name, member := range value {
			errs = append(errs, d.checkExamples(c, pointer+"/"+escape(name), member))
		}
	}
	return errors.Join(errs...)
}

func (d *Document) checkExample(c *jsonschema.Compiler, pointer string, example any) error {
	value, at, err := follow(d.root, pointer)
	if err != nil {
		return err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no schema", at)
	}
	n, err := compile(c, at, object)
	if err != nil {
		return err
	}
	return n.compiled.Validate(example)
}
