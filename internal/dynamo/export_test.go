package dynamo

var LoadConfig = loadConfig
