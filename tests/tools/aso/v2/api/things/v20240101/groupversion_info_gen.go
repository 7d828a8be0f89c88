// Made for the tests of tools/extract_facts, in the form of the files that ASO's generator writes.
package v20240101

var GroupVersion = schema.GroupVersion{Group: "things.azure.com", Version: "v20240101"}
