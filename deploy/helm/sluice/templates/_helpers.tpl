{{- define "sluice.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "sluice.fullname" -}}
{{- $name := include "sluice.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The Pod of "helm test". */}}
{{- define "sluice.tester" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}-health
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "sluice.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "sluice.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "sluice.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* The Secret whose entries are variables; empty: there is none. */}}
{{- define "sluice.secret" -}}
{{- if .Values.existingSecret }}
{{- .Values.existingSecret }}
{{- else if .Values.secret }}
{{- include "sluice.fullname" . }}
{{- end }}
{{- end }}

{{/* The ConfigMap with sluice.yaml; empty: there is none. */}}
{{- define "sluice.configMap" -}}
{{- if .Values.existingConfigMap }}
{{- .Values.existingConfigMap }}
{{- else if .Values.config }}
{{- include "sluice.fullname" . }}
{{- end }}
{{- end }}

{{/* "yes" if several Pods may serve. */}}
{{- define "sluice.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) }}yes{{ end }}
{{- end }}

{{/* The variable of an address: given as it is, or as an entry of the Secret. Takes a dict of root, variable, url. */}}
{{- define "sluice.address" -}}
{{- $entry := regexFind "[A-Za-z_][A-Za-z0-9_]*" (regexFind "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$" .url) }}
- name: {{ .variable }}
{{- if $entry }}
  valueFrom:
    secretKeyRef: { name: {{ include "sluice.secret" .root }}, key: {{ $entry }} }
{{- else }}
  value: {{ .url | quote }}
{{- end }}
{{- end }}

{{/* Seconds of a duration such as 90s; -1 for what only the gateway knows, such as a variable. */}}
{{- define "sluice.seconds" -}}
{{- if regexMatch "^[0-9]+(ms|s|m|h|d)$" . }}
{{- $count := regexFind "^[0-9]+" . | float64 }}
{{- $sizes := dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0 }}
{{- mulf $count (get $sizes (regexFind "[a-z]+$" .)) }}
{{- else }}-1{{ end }}
{{- end }}
