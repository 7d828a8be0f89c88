// Made for the tests of tools/extract_facts, in the form of the files that ASO's generator writes.
package arm

type Thing_Spec struct {
	Identity   *Identity         `json:"identity,omitempty"`
	Location   *string           `json:"location,omitempty"`
	Name       string            `json:"name,omitempty"`
	Properties *ThingProperties  `json:"properties,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	Zone       *string           `json:"zone,omitempty"`
}

type ThingProperties struct {
	AdminPassword *string            `json:"adminPassword,omitempty"`
	Backup        *Backup            `json:"backup,omitempty"`
	Certificates  []string           `json:"trustedCertificates"`
	Extra         map[string]v1.JSON `json:"extra,omitempty"`
	NetworkId     *string            `json:"networkId,omitempty"`
	PolicyId      *string            `json:"policyId,omitempty"`
	PrincipalId   *string            `json:"principalId,omitempty"`
	Settings      map[string]string  `json:"settings,omitempty"`
	Share         *float64           `json:"share,omitempty"`
	Size          *Thing_Size_Spec   `json:"size,omitempty"`
	Subnets       []string           `json:"subnets" serializationType:"explicitEmptyCollection"`
}

type Thing_Size_Spec string

type Backup struct {
	Daily  *DailyBackup  `json:"daily,omitempty"`
	Weekly *WeeklyBackup `json:"weekly,omitempty"`
}

// MarshalJSON writes the field that is set.
func (backup Backup) MarshalJSON() ([]byte, error) {
	if backup.Daily != nil {
		return json.Marshal(backup.Daily)
	}
	return nil, nil
}

func (backup *Backup) UnmarshalJSON(data []byte) error {
	var rawJson map[string]interface{}
	err := json.Unmarshal(data, &rawJson)
	if err != nil {
		return err
	}
	discriminator := rawJson["kind"]
	if discriminator == "Daily" {
		backup.Daily = &DailyBackup{}
		return json.Unmarshal(data, backup.Daily)
	}
	if discriminator == "Weekly" {
		backup.Weekly = &WeeklyBackup{}
		return json.Unmarshal(data, backup.Weekly)
	}
	return nil
}

type DailyBackup struct {
	Hour *int `json:"hour,omitempty"`
}

type WeeklyBackup struct {
	Days []Day `json:"days,omitempty"`
}

type Day string

type Identity struct {
	UserAssignedIdentities map[string]UserAssignedIdentityDetails `json:"userAssignedIdentities,omitempty"`
}

type UserAssignedIdentityDetails struct{}

type Thing_STATUS struct {
	Id         *string                 `json:"id,omitempty"`
	Properties *ThingProperties_STATUS `json:"properties,omitempty"`
	Zone       *string                 `json:"zone,omitempty"`
}

type ThingProperties_STATUS struct {
	Endpoints *Endpoints_STATUS `json:"endpoints,omitempty"`
	Extra     *v1.JSON          `json:"extra,omitempty"`
	Size      *string           `json:"size,omitempty"`
	Subnets   []string          `json:"subnets,omitempty"`
}

type Endpoints_STATUS struct {
	Web *string `json:"web,omitempty"`
}

type ThingsPart_Spec struct {
	Name       string          `json:"name,omitempty"`
	Properties *PartProperties `json:"properties,omitempty"`
}

type PartProperties struct {
	Enabled *bool             `json:"enabled,omitempty"`
	Rules   map[string]string `json:"rules"`
}

type ThingsPart_STATUS struct {
	Name *string         `json:"name,omitempty"`
	Web  *WebPart_STATUS `json:"web,omitempty"`
}

type WebPart_STATUS struct {
	Kind *string `json:"kind,omitempty"`
	Name *string `json:"name,omitempty"`
}

type Tie_Spec struct {
	Name string  `json:"name,omitempty"`
	Role *string `json:"roleId,omitempty"`
}

type Tie_STATUS struct {
}
