{{- define "gitsync.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/name: gitsync
{{- end }}

{{- define "gitsync.metadata" -}}
name: {{ .Release.Name }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "gitsync.labels" . | nindent 2 }}
{{- end }}

{{- define "gitsync.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
