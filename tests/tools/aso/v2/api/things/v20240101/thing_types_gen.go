// Made for the tests of tools/extract_facts, in the form of the files that ASO's generator writes.
package v20240101

import "example.com/arm"

type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Thing_Spec   `json:"spec,omitempty"`
	Status            Thing_STATUS `json:"status,omitempty"`
}

// AzureName is that of the spec.
func (thing *Thing) AzureName() string {
	return thing.Spec.AzureName
}

func (thing Thing) GetAPIVersion() string {
	return "2024-01-01"
}

func (thing *Thing) GetResourceScope() genruntime.ResourceScope {
	return genruntime.ResourceScopeResourceGroup
}

func (thing *Thing) GetSupportedOperations() []genruntime.ResourceOperation {
	return []genruntime.ResourceOperation{
		genruntime.ResourceOperationDelete,
		genruntime.ResourceOperationGet,
		genruntime.ResourceOperationPut,
	}
}

func (thing *Thing) GetType() string {
	return "Microsoft.Things/things"
}

func (thing *Thing) ExportKubernetesConfigMaps(_ context.Context) ([]client.Object, error) {
	collector := configmaps.NewCollector(thing.Namespace)
	if thing.Spec.OperatorSpec != nil && thing.Spec.OperatorSpec.ConfigMaps != nil {
		if thing.Status.Endpoints != nil {
			if thing.Status.Endpoints.Web != nil {
				collector.AddValue(thing.Spec.OperatorSpec.ConfigMaps.WebEndpoint, *thing.Status.Endpoints.Web)
			}
		}
	}
	return nil, nil
}

type Thing_Spec struct {
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:Pattern="^[a-z0-9]+$"
	// AzureName: what Azure calls it.
	AzureName string `json:"azureName,omitempty"`

	// AzureNameFromConfig: A ConfigMap with the name.
	AzureNameFromConfig *genruntime.ConfigMapReference `json:"azureNameFromConfig,omitempty"`

	// AdminPassword: A password.
	AdminPassword *genruntime.SecretReference `json:"adminPassword,omitempty"`

	// Backup: What is kept of it.
	Backup *Backup `json:"backup,omitempty"`

	// Certificates: What it trusts.
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:MinItems=0
	Certificates []string `json:"certificates,omitempty"`

	// Extra: Anything.
	Extra map[string]v1.JSON `json:"extra,omitempty"`

	// Identity: Who it is.
	Identity *Identity `json:"identity,omitempty"`

	// +kubebuilder:validation:Required
	// Location: Where it is.
	Location *string `json:"location,omitempty"`

	// NetworkReference: Where it listens.
	NetworkReference *genruntime.ResourceReference `armReference:"NetworkId" json:"networkReference,omitempty"`

	// OperatorSpec: For the operator.
	OperatorSpec *ThingOperatorSpec `json:"operatorSpec,omitempty"`

	// +kubebuilder:validation:Required
	// Owner: The resource group.
	Owner *genruntime.KnownResourceReference `group:"resources.azure.com" json:"owner,omitempty" kind:"ResourceGroup"`

	// PrincipalId: Who may.
	PrincipalId           *string                        `json:"principalId,omitempty" optionalConfigMapPair:"PrincipalId"`
	PrincipalIdFromConfig *genruntime.ConfigMapReference `json:"principalIdFromConfig,omitempty" optionalConfigMapPair:"PrincipalId"`

	// PolicyId: A policy, by its id or as a reference.
	PolicyId        *string                       `json:"policyId,omitempty"`
	PolicyReference *genruntime.ResourceReference `armReference:"PolicyId" json:"policyReference,omitempty"`

	// Settings: Secret pairs.
	Settings *genruntime.SecretMapReference `json:"settings,omitempty"`

	// Size: How large it is.
	Size *Thing_Size_Spec `json:"size,omitempty"`

	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:Minimum=0.5
	// +kubebuilder:validation:MultipleOf=0.5
	// Share: Of the whole.
	Share *float64 `json:"share,omitempty"`

	// Subnets: Where it may be reached.
	SubnetReferences []genruntime.ResourceReference `armReference:"Subnets" json:"subnetReferences,omitempty"`

	// Tags: Resource tags.
	Tags map[string]string `json:"tags,omitempty"`

	// Zone: Where it runs.
	Zone *Zone `json:"zone,omitempty"`
}

func (thing *Thing_Spec) ConvertToARM(resolved genruntime.ConvertToARMResolvedDetails) (interface{}, error) {
	if thing == nil {
		return nil, nil
	}
	result := &arm.Thing_Spec{}

	// Set property "Identity":
	if thing.Identity != nil {
		identity_ARM, err := thing.Identity.ConvertToARM(resolved)
		if err != nil {
			return nil, err
		}
		identity := *identity_ARM.(*arm.Identity)
		result.Identity = &identity
	}

	// Set property "Location":
	if thing.Location != nil {
		location := *thing.Location
		result.Location = &location
	}

	// Set property "Name":
	result.Name = resolved.Name

	// Set property "Properties":
	if thing.AdminPassword != nil ||
		thing.Size != nil {
		result.Properties = &arm.ThingProperties{}
	}
	if thing.AdminPassword != nil {
		adminPasswordSecret, err := resolved.ResolvedSecrets.Lookup(*thing.AdminPassword)
		if err != nil {
			return nil, err
		}
		adminPassword := adminPasswordSecret
		result.Properties.AdminPassword = &adminPassword
	}
	if thing.Backup != nil {
		backup_ARM, err := thing.Backup.ConvertToARM(resolved)
		if err != nil {
			return nil, err
		}
		backup := *backup_ARM.(*arm.Backup)
		result.Properties.Backup = &backup
	}
	var certificatesTemp []string
	for _, item := range thing.Certificates {
		certificatesTemp = append(certificatesTemp, item)
	}
	result.Properties.Certificates = certificatesTemp
	if thing.Extra != nil {
		result.Properties.Extra = make(map[string]v1.JSON, len(thing.Extra))
		for key, value := range thing.Extra {
			result.Properties.Extra[key] = *value.DeepCopy()
		}
	}
	if thing.NetworkReference != nil {
		networkIdARMID, err := resolved.ResolvedReferences.Lookup(*thing.NetworkReference)
		if err != nil {
			return nil, err
		}
		networkId := networkIdARMID
		result.Properties.NetworkId = &networkId
	}
	if thing.PolicyReference != nil {
		policyReferenceARMID, err := resolved.ResolvedReferences.Lookup(*thing.PolicyReference)
		if err != nil {
			return nil, err
		}
		policyReference := policyReferenceARMID
		result.Properties.PolicyId = &policyReference
	} else if thing.PolicyId != nil {
		policyId := *thing.PolicyId
		result.Properties.PolicyId = &policyId
	}
	if thing.PrincipalId != nil {
		principalId := *thing.PrincipalId
		result.Properties.PrincipalId = &principalId
	}
	if thing.PrincipalIdFromConfig != nil {
		principalIdValue, err := resolved.ResolvedConfigMaps.Lookup(*thing.PrincipalIdFromConfig)
		if err != nil {
			return nil, err
		}
		principalId := principalIdValue
		result.Properties.PrincipalId = &principalId
	}
	if thing.Settings != nil {
		var temp map[string]string
		tempSecret, err := resolved.ResolvedSecretMaps.Lookup(*thing.Settings)
		if err != nil {
			return nil, err
		}
		temp = tempSecret
		result.Properties.Settings = temp
	}
	if thing.Share != nil {
		share := *thing.Share
		result.Properties.Share = &share
	}
	if thing.Size != nil {
		var temp string
		temp = string(*thing.Size)
		size := arm.Thing_Size_Spec(temp)
		result.Properties.Size = &size
	}
	for _, item := range thing.SubnetReferences {
		itemARMID, err := resolved.ResolvedReferences.Lookup(item)
		if err != nil {
			return nil, err
		}
		result.Properties.Subnets = append(result.Properties.Subnets, itemARMID)
	}
	if result.Properties.Subnets == nil {
		// An empty list, not null.
		result.Properties.Subnets = []string{}
	}

	// Set property "Tags":
	if thing.Tags != nil {
		result.Tags = make(map[string]string, len(thing.Tags))
		for key, value := range thing.Tags {
			result.Tags[key] = value
		}
	}

	// Set property "Zone":
	if thing.Zone != nil {
		var temp string
		temp = string(*thing.Zone)
		zone := temp
		result.Zone = &zone
	}
	return result, nil
}

// PopulateFromARM of a spec states nothing that the facts need.
func (thing *Thing_Spec) PopulateFromARM(owner genruntime.ArbitraryOwnerReference, armInput interface{}) error {
	return nil
}

type Thing_STATUS struct {
	// Conditions: What is known of it.
	Conditions []conditions.Condition `json:"conditions,omitempty"`

	// Endpoints: Where it listens.
	Endpoints *Endpoints_STATUS `json:"endpoints,omitempty"`

	// Extra: Anything.
	Extra *v1.JSON `json:"extra,omitempty"`

	// Id: Its id.
	Id *string `json:"id,omitempty"`

	// Size: How large it is.
	Size *Thing_Size_STATUS `json:"size,omitempty"`

	// Subnets: Where it may be reached.
	Subnets []string `json:"subnets,omitempty"`

	// Zone: Where it runs.
	Zone *string `json:"zone,omitempty"`
}

func (thing *Thing_STATUS) PopulateFromARM(owner genruntime.ArbitraryOwnerReference, armInput interface{}) error {
	typedInput, ok := armInput.(arm.Thing_STATUS)
	if !ok {
		return errors.New("another type")
	}

	// no assignment for property "Conditions"

	// Set property "Endpoints":
	if typedInput.Properties != nil {
		if typedInput.Properties.Endpoints != nil {
			var endpoints1 Endpoints_STATUS
			err := endpoints1.PopulateFromARM(owner, *typedInput.Properties.Endpoints)
			if err != nil {
				return err
			}
			endpoints := endpoints1
			thing.Endpoints = &endpoints
		}
	}

	// Set property "Extra":
	if typedInput.Properties != nil {
		if typedInput.Properties.Extra != nil {
			extra := *typedInput.Properties.Extra.DeepCopy()
			thing.Extra = &extra
		}
	}

	// Set property "Id":
	if typedInput.Id != nil {
		id := *typedInput.Id
		thing.Id = &id
	}

	// Set property "Size":
	if typedInput.Properties != nil {
		if typedInput.Properties.Size != nil {
			var temp string
			temp = string(*typedInput.Properties.Size)
			size := Thing_Size_STATUS(temp)
			thing.Size = &size
		}
	}

	// Set property "Subnets":
	if typedInput.Properties != nil {
		for _, item := range typedInput.Properties.Subnets {
			thing.Subnets = append(thing.Subnets, item)
		}
	}

	// Set property "Zone":
	if typedInput.Zone != nil {
		var temp string
		temp = string(*typedInput.Zone)
		zone := temp
		thing.Zone = &zone
	}

	// No error
	return nil
}

// Backup is a union: one of its fields is set.
type Backup struct {
	// Daily: One of the union.
	Daily *DailyBackup `json:"dailyBackup,omitempty"`

	// Weekly: One of the union.
	Weekly *WeeklyBackup `json:"weeklyBackup,omitempty"`
}

func (backup *Backup) ConvertToARM(resolved genruntime.ConvertToARMResolvedDetails) (interface{}, error) {
	if backup == nil {
		return nil, nil
	}
	result := &arm.Backup{}

	// Set property "Daily":
	if backup.Daily != nil {
		daily_ARM, err := backup.Daily.ConvertToARM(resolved)
		if err != nil {
			return nil, err
		}
		daily := *daily_ARM.(*arm.DailyBackup)
		result.Daily = &daily
	}

	// Set property "Weekly":
	if backup.Weekly != nil {
		weekly_ARM, err := backup.Weekly.ConvertToARM(resolved)
		if err != nil {
			return nil, err
		}
		weekly := *weekly_ARM.(*arm.WeeklyBackup)
		result.Weekly = &weekly
	}
	return result, nil
}

type DailyBackup struct {
	// +kubebuilder:validation:Required
	// Hour: When.
	Hour *int `json:"hour,omitempty"`
}

func (backup *DailyBackup) ConvertToARM(resolved genruntime.ConvertToARMResolvedDetails) (interface{}, error) {
	result := &arm.DailyBackup{}
	if backup.Hour != nil {
		hour := *backup.Hour
		result.Hour = &hour
	}
	return result, nil
}

type WeeklyBackup struct {
	// Days: When.
	Days []Day `json:"days,omitempty"`
}

func (backup *WeeklyBackup) ConvertToARM(resolved genruntime.ConvertToARMResolvedDetails) (interface{}, error) {
	result := &arm.WeeklyBackup{}
	for _, item := range backup.Days {
		var temp string
		temp = string(item)
		result.Days = append(result.Days, arm.Day(temp))
	}
	return result, nil
}

type Endpoints_STATUS struct {
	// Web: Its address.
	Web *string `json:"web,omitempty"`
}

func (endpoints *Endpoints_STATUS) PopulateFromARM(owner genruntime.ArbitraryOwnerReference, armInput interface{}) error {
	typedInput, ok := armInput.(arm.Endpoints_STATUS)
	if !ok {
		return nil
	}
	if typedInput.Web != nil {
		web := *typedInput.Web
		endpoints.Web = &web
	}
	return nil
}

type Identity struct {
	// UserAssignedIdentities: Who it is.
	UserAssignedIdentities []UserAssignedIdentityDetails `json:"userAssignedIdentities,omitempty"`
}

func (identity *Identity) ConvertToARM(resolved genruntime.ConvertToARMResolvedDetails) (interface{}, error) {
	result := &arm.Identity{}

	// Set property "UserAssignedIdentities":
	result.UserAssignedIdentities = make(map[string]arm.UserAssignedIdentityDetails, len(identity.UserAssignedIdentities))
	for _, ident := range identity.UserAssignedIdentities {
		identARMID, err := resolved.ResolvedReferences.Lookup(ident.Reference)
		if err != nil {
			return nil, err
		}
		key := identARMID
		result.UserAssignedIdentities[key] = arm.UserAssignedIdentityDetails{}
	}
	return result, nil
}

type UserAssignedIdentityDetails struct {
	Reference genruntime.ResourceReference `armReference:"Reference" json:"reference,omitempty"`
}

type ThingOperatorSpec struct {
	// ConfigMaps: What is exported.
	ConfigMaps *ThingOperatorConfigMaps `json:"configMaps,omitempty"`

	// SecretExpressions: What else is exported.
	SecretExpressions []*core.DestinationExpression `json:"secretExpressions,omitempty"`
}

type ThingOperatorConfigMaps struct {
	WebEndpoint *genruntime.ConfigMapDestination `json:"webEndpoint,omitempty"`
}

// +kubebuilder:validation:Enum={"Friday","Monday"}
type Day string

// +kubebuilder:validation:Enum={"Large","Small"}
type Thing_Size_Spec string

type Thing_Size_STATUS string

// +kubebuilder:validation:Pattern=`^[1-3]$`
type Zone string
