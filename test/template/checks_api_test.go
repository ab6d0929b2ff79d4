package template

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const stage = "PlantApiApiGatewayDefaultStage"

// checkAPI finds requests without limit, and pages of foreign origins that may
// use the API.
func checkAPI(s *stack, _ program, report report) {
	properties := object(s.resources, stage, "Properties")
	if got := str(properties, "StageName"); got != "$default" {
		report("the stage is %q, want $default", got)
	}
	for key, parameter := range map[string]string{"ThrottlingRateLimit": "ThrottlingRate", "ThrottlingBurstLimit": "ThrottlingBurst"} {
		if got, want := str(properties, "DefaultRouteSettings", key), s.parameters[parameter]; got != want {
			report("%s is %q, want %s", key, got, want)
		}
	}
	if paths := slices.Collect(maps.Keys(object(s.resources, "PlantApi", "Properties", "Body", "paths"))); !slices.Equal(paths, []string{"$default"}) {
		report("the routes are %q, want $default alone", paths)
	}

	cors := object(s.resources, "PlantApi", "Properties", "Body", "x-amazon-apigateway-cors")
	origins := s.parameters["CorsOrigins"]
	if origins == "" {
		if cors != nil {
			report("pages of other origins may use the API by default: %s", str(cors))
		}
		return
	}
	for key, want := range map[string][]string{
		"allowOrigins":  strings.Split(origins, ","),
		"allowMethods":  {"GET", "POST", "DELETE"},
		"allowHeaders":  {"Authorization", "Content-Type", "Idempotency-Key"},
		"exposeHeaders": {"Link", "Retry-After", "WWW-Authenticate"},
	} {
		if got := oneOrMore(at(cors, key)); !slices.Equal(got, want) {
			report("CORS: %s is %q, want %q", key, got, want)
		}
	}
	if at(cors, "allowCredentials") != nil {
		report("CORS: tokens are no credentials that a browser adds by itself")
	}
}

// The variables of an access log whose values a client chooses freely. API
// Gateway puts them in as they are, and a quotation mark would end the string.
var chosenByClients = regexp.MustCompile(`\$context\.(path|identity\.userAgent|domainName|domainPrefix|customDomain)`)

var contextVariable = regexp.MustCompile(`\$context\.[A-Za-z.]+`)

// checkAccessLog finds access logs that are off, or not JSON for every request.
func checkAccessLog(s *stack, _ program, report report) {
	settings := object(s.resources, stage, "Properties", "AccessLogSettings")
	if got := str(settings, "DestinationArn"); got != "${AccessLogs.Arn}" {
		report("access logs go to %q", got)
	}
	format := str(settings, "Format")
	if strings.Contains(format, "\n") {
		report("a line of the access log is more than one line")
	}
	if v := chosenByClients.FindString(format); v != "" {
		report("a client can write what it likes to the access log through %s", v)
	}
	var line map[string]string
	if err := json.Unmarshal([]byte(contextVariable.ReplaceAllString(format, "x")), &line); err != nil {
		report("a line of the access log is not an object of strings: %v", err)
	}
	for key, variable := range map[string]string{
		"request_id": "$context.requestId", "status": "$context.status", "source_ip": "$context.identity.sourceIp",
		"function_request_id": "$context.integration.requestId",
	} {
		if !strings.Contains(format, `"`+key+`":"`+variable+`"`) {
			report("the access log has no %s", key)
		}
	}
	if name := str(s.resources, "AccessLogs", "Properties", "LogGroupName"); !strings.HasPrefix(name, "/aws/vendedlogs/") {
		report("the access log's group is %q: without /aws/vendedlogs/ it takes room in the account's resource policy", name)
	}
}

// checkAlarms finds alarms that watch something else, and a deployment that
// doesn't heed them.
func checkAlarms(s *stack, _ program, report report) {
	var names []string
	watched := map[string]string{}
	for _, id := range ofType(s.resources, "AWS::CloudWatch::Alarm") {
		p := object(s.resources, id, "Properties")
		names = append(names, str(p, "AlarmName"))
		watch(watched, p)
		for _, q := range list(p, "Metrics") {
			watch(watched, object(q, "MetricStat", "Metric"))
		}
		if got := str(p, "TreatMissingData"); got != "notBreaching" {
			report("without any request %s is %q, want notBreaching", id, got)
		}
		if str(p, "ComparisonOperator") != "GreaterThanThreshold" || str(p, "EvaluationPeriods") != "1" {
			report("%s doesn't go off at once", id)
		}
	}
	api := `[{"Name":"ApiId","Value":"${PlantApi}"},{"Name":"Stage","Value":"$default"}]`
	for metric, want := range map[string]string{
		"AWS/Lambda Errors":    `[{"Name":"FunctionName","Value":"${PlantFunction}"},{"Name":"Resource","Value":"${PlantFunction}:live"}]`,
		"AWS/ApiGateway 5xx":   api,
		"AWS/ApiGateway Count": api,
	} {
		if got := watched[metric]; got != want {
			report("the alarms watch %s of %q, want %q", metric, got, want)
		}
	}

	group := object(s.resources, function+"DeploymentGroup", "Properties")
	var heeded []string
	for _, a := range list(group, "AlarmConfiguration", "Alarms") {
		heeded = append(heeded, str(a, "Name"))
	}
	slices.Sort(names)
	slices.Sort(heeded)
	if !slices.Equal(names, heeded) || len(names) == 0 || str(group, "AlarmConfiguration", "Enabled") != "true" {
		report("the deployment heeds the alarms %q, of %q", heeded, names)
	}
	if got := str(group, "AutoRollbackConfiguration", "Events"); !strings.Contains(got, "DEPLOYMENT_STOP_ON_ALARM") {
		report("the deployment is undone by %s, want alarms too", got)
	}
	if got, want := str(group, "DeploymentConfigName"), "CodeDeployDefault.Lambda"+s.parameters["Deployment"]; got != want {
		report("the deployment is %q, want %q", got, want)
	}
	if got := str(s.resources, function+"Aliaslive", "UpdatePolicy", "CodeDeployLambdaAliasUpdate", "DeploymentGroupName"); got != "${"+function+"DeploymentGroup}" {
		report("the alias is moved by %q", got)
	}
}

func watch(watched map[string]string, metric node) {
	if name := str(metric, "MetricName"); name != "" {
		watched[str(metric, "Namespace")+" "+name] = str(metric, "Dimensions")
	}
}
