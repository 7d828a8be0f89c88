// Made for the tests of tools/extract_facts, in the form of the files that ASO's generator writes.
package v20240101

type Tie struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Tie_Spec   `json:"spec,omitempty"`
	Status            Tie_STATUS `json:"status,omitempty"`
}

func (tie *Tie) AzureName() string {
	return tie.Spec.AzureName
}

func (tie Tie) GetAPIVersion() string {
	return "2023-06-01"
}

func (tie *Tie) GetResourceScope() genruntime.ResourceScope {
	return genruntime.ResourceScopeExtension
}

func (tie *Tie) GetSupportedOperations() []genruntime.ResourceOperation {
	return []genruntime.ResourceOperation{
		genruntime.ResourceOperationDelete,
		genruntime.ResourceOperationGet,
		genruntime.ResourceOperationHead,
		genruntime.ResourceOperationPut,
	}
}

func (tie *Tie) GetType() string {
	return "Microsoft.Ties/ties"
}

type Tie_Spec struct {
	// AzureName: what Azure calls it.
	AzureName string `json:"azureName,omitempty"`

	// +kubebuilder:validation:Required
	// Owner: Any resource.
	Owner *genruntime.ArbitraryOwnerReference `json:"owner,omitempty"`

	// Well-known or by id.
	RoleReference *genruntime.WellKnownResourceReference `armReference:"Role" json:"roleReference,omitempty"`
}

func (tie *Tie_Spec) ConvertToARM(resolved genruntime.ConvertToARMResolvedDetails) (interface{}, error) {
	result := &arm.Tie_Spec{}
	result.Name = resolved.Name
	if tie.RoleReference != nil {
		roleARMID, err := resolved.ResolvedReferences.Lookup(tie.RoleReference.ResourceReference)
		if err != nil {
			return nil, err
		}
		role := roleARMID
		result.Role = &role
	}
	return result, nil
}

type Tie_STATUS struct {
	// Conditions: What is known of it.
	Conditions []conditions.Condition `json:"conditions,omitempty"`
}

func (tie *Tie_STATUS) PopulateFromARM(owner genruntime.ArbitraryOwnerReference, armInput interface{}) error {
	_, ok := armInput.(arm.Tie_STATUS)
	if !ok {
		return nil
	}
	return nil
}
