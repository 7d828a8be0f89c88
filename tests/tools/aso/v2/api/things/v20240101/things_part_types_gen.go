// Made for the tests of tools/extract_facts, in the form of the files that ASO's generator writes.
package v20240101

type ThingsPart struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ThingsPart_Spec   `json:"spec,omitempty"`
	Status            ThingsPart_STATUS `json:"status,omitempty"`
}

// AzureName is fixed.
func (part *ThingsPart) AzureName() string {
	return "default"
}

func (part ThingsPart) GetAPIVersion() string {
	return "2024-01-01"
}

func (part *ThingsPart) GetResourceScope() genruntime.ResourceScope {
	return genruntime.ResourceScopeResourceGroup
}

func (part *ThingsPart) GetSupportedOperations() []genruntime.ResourceOperation {
	return []genruntime.ResourceOperation{
		genruntime.ResourceOperationGet,
		genruntime.ResourceOperationPut,
	}
}

func (part *ThingsPart) GetType() string {
	return "Microsoft.Things/things/parts"
}

type ThingsPart_Spec struct {
	// Enabled: Whether it is there.
	Enabled *bool `json:"enabled,omitempty"`

	// +kubebuilder:validation:Required
	// Owner: The thing.
	Owner *genruntime.KnownResourceReference `group:"things.azure.com" json:"owner,omitempty" kind:"Thing"`

	// Rules: A map of rules, sent as null if there is none.
	Rules map[string]string `json:"rules,omitempty"`
}

func (part *ThingsPart_Spec) ConvertToARM(resolved genruntime.ConvertToARMResolvedDetails) (interface{}, error) {
	if part == nil {
		return nil, nil
	}
	result := &arm.ThingsPart_Spec{}

	// Set property "Name":
	result.Name = resolved.Name

	// Set property "Properties":
	if part.Enabled != nil || part.Rules != nil {
		result.Properties = &arm.PartProperties{}
	}
	if part.Enabled != nil {
		enabled := *part.Enabled
		result.Properties.Enabled = &enabled
	}
	if part.Rules != nil {
		result.Properties.Rules = make(map[string]string, len(part.Rules))
		for key, value := range part.Rules {
			result.Properties.Rules[key] = value
		}
	}
	return result, nil
}

type ThingsPart_STATUS struct {
	// Conditions: What is known of it.
	Conditions []conditions.Condition `json:"conditions,omitempty"`

	// Name: What it is called.
	Name *string `json:"name,omitempty"`

	// Web: One of the values of a union, which has the name.
	Web *WebPart_STATUS `json:"web,omitempty"`
}

func (part *ThingsPart_STATUS) PopulateFromARM(owner genruntime.ArbitraryOwnerReference, armInput interface{}) error {
	typedInput, ok := armInput.(arm.ThingsPart_STATUS)
	if !ok {
		return nil
	}

	// Set property "Name":
	if typedInput.Name != nil {
		name := *typedInput.Name
		part.Name = &name
	}

	// Set property "Web":
	if typedInput.Web != nil {
		var web1 WebPart_STATUS
		err := web1.PopulateFromARM(owner, *typedInput.Web)
		if err != nil {
			return err
		}
		web := web1
		part.Web = &web
		part.Name = typedInput.Web.Name
	}
	return nil
}

type WebPart_STATUS struct {
	// Kind: Which part it is.
	Kind *string `json:"kind,omitempty"`
}

func (part *WebPart_STATUS) PopulateFromARM(owner genruntime.ArbitraryOwnerReference, armInput interface{}) error {
	typedInput, ok := armInput.(arm.WebPart_STATUS)
	if !ok {
		return nil
	}
	if typedInput.Kind != nil {
		kind := *typedInput.Kind
		part.Kind = &kind
	}
	return nil
}
