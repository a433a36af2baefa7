{{/*
"yes" if an address has a password, after the name of a user, which may be empty or have "@", or in the query. Digits
after a colon are a port where "/", "?", "#" or the end follows. What is no password is taken out first: a host in
brackets, a reference $(NAME) alone, in whose place Kubernetes puts a value, and tokens of pages.
*/}}
{{- define "sluice.password" -}}
{{- $scheme := "^\\s*[A-Za-z][A-Za-z0-9+.-]*://" }}
{{- $reference := "\\$\\([A-Za-z_][A-Za-z0-9_.-]*\\)" }}
{{- $given := regexReplaceAll (printf "(%s([^/?#:\\s@]*(:%s)?@)?)\\[[0-9A-Fa-f:.]+\\]([:/?#]|$)" $scheme $reference) . "${1}host${4}" }}
{{- $given = regexReplaceAll (printf "(%s[^/?#:\\s@]*:)%s@([^/?#@]*([/?#].*)?)$" $scheme $reference) $given "${1}@${2}" }}
{{- $given = regexReplaceAll (printf "=%s(&|;|\\s|$)" $reference) $given "=${1}" }}
{{- $given = regexReplaceAll "(?i)([?&;])[a-z0-9_.-]*(page|next|continuation|cursor|sync)[_.-]?token=[^&;\\s]*" $given "${1}" }}
{{- $user := printf "%s[^/?#:\\s]*:([0-9]*[^0-9/?#@\\s][^@]*|[0-9]+|[/?#][^@]*)@" $scheme }}
{{- $query := printf "(?i)%s.*[?&;][a-z0-9_.-]*(password|passwd|passphrase|pass|pwd|secret|token)=[^&;\\s]" $scheme }}
{{- if or (regexMatch $user $given) (regexMatch $query $given) }}yes{{ end }}
{{- end }}

{{/* Fails with one sentence for each thing that is wrong. The schema has looked at the values one by one. */}}
{{- define "sluice.checks" -}}
{{- $values := .Values }}
{{- $wrong := list }}
{{- /* What is empty is not set: each Pod would make a secret of its own. */}}
{{- $names := list }}
{{- range $name, $text := $values.secret }}{{ if $text }}{{ $names = append $names $name }}{{ end }}{{ end }}
{{- range $values.env }}{{ if or .value .valueFrom }}{{ $names = append $names .name }}{{ end }}{{ end }}

{{- if and $values.existingSecret $values.secret }}
{{- $wrong = append $wrong "existingSecret and secret are both set; leave out one of them." }}
{{- end }}
{{- if and $values.existingConfigMap $values.config }}
{{- $wrong = append $wrong "existingConfigMap and config are both set; leave out one of them." }}
{{- end }}
{{- range $section, $instead := dict "database" "database.url" "key_value" "keyValue.url" }}
{{- if hasKey $values.config $section }}
{{- $wrong = append $wrong (printf "config.%s is set; set %s instead, which is checked." $section $instead) }}
{{- end }}
{{- end }}

{{- range $place, $url := dict "database.url" $values.database.url "keyValue.url" $values.keyValue.url }}
{{- $entry := trimSuffix "}" (trimPrefix "${" $url) }}
{{- if hasPrefix "${" $url }}
{{- if and (not $values.existingSecret) (not (hasKey $values.secret $entry)) }}
{{- $wrong = append $wrong (printf "%s is %s, but neither existingSecret nor secret has %s." $place $url $entry) }}
{{- end }}
{{- else if include "sluice.password" $url }}
{{- $wrong = append $wrong (printf "%s has a password, which everybody who reads Pods would see; put the address into the Secret, and write ${NAME} here." $place) }}
{{- end }}
{{- end }}

{{- range $values.env }}
{{- if include "sluice.password" (toString (get . "value" | default "")) }}
{{- $wrong = append $wrong (printf "env has %s with a password, which everybody who reads Pods would see; put it into the Secret." .name) }}
{{- end }}
{{- end }}

{{- if include "sluice.several" . }}
{{- $urls := dict "database" $values.database.url "store" $values.keyValue.url }}
{{- range $kind, $url := $urls }}
{{- $entry := trimSuffix "}" (trimPrefix "${" $url) }}
{{- /* What stands in an existing Secret is not known here. */}}
{{- if hasPrefix "${" $url }}
{{- $_ := set $urls $kind (hasKey $values.secret $entry | ternary (get $values.secret $entry) (eq $kind "database" | ternary "postgres:" "redis:")) }}
{{- end }}
{{- end }}
{{- if not (hasPrefix "postgres" $urls.database) }}
{{- $wrong = append $wrong "Several Pods need one database: set database.url to a PostgreSQL (postgres://…)." }}
{{- end }}
{{- if not (hasPrefix "redis" $urls.store) }}
{{- $wrong = append $wrong "Several Pods need one key-value store: set keyValue.url to a Redis (redis://…)." }}
{{- end }}
{{- if not (or $values.existingSecret (has "SLUICE_SECRET" $names) (has "SLUICE_SECRET_FILE" $names)) }}
{{- $wrong = append $wrong "Several Pods need one master secret: put SLUICE_SECRET into the Secret (existingSecret or secret)." }}
{{- end }}
{{- if $values.persistence.enabled }}
{{- $wrong = append $wrong "persistence is for one Pod: several must not share a volume." }}
{{- end }}
{{- end }}
{{- if and $values.autoscaling.enabled (lt (int $values.autoscaling.maxReplicas) (int $values.autoscaling.minReplicas)) }}
{{- $wrong = append $wrong "autoscaling.maxReplicas is less than autoscaling.minReplicas." }}
{{- end }}
{{- if and $values.autoscaling.enabled (not $values.autoscaling.targetCPUUtilizationPercentage) (not $values.autoscaling.targetInFlight) }}
{{- $wrong = append $wrong "autoscaling needs targetCPUUtilizationPercentage or targetInFlight." }}
{{- end }}

{{- $shutdown := get $values.config "shutdown" | default dict }}
{{- $notice := include "sluice.seconds" (get $shutdown "notice" | default "5s") | float64 }}
{{- $deadline := include "sluice.seconds" (get $shutdown "deadline" | default "30s") | float64 }}
{{- if and (ge $notice 0.0) (ge $deadline 0.0) (le (float64 $values.terminationGracePeriodSeconds) (addf $notice $deadline)) }}
{{- $wrong = append $wrong (printf "terminationGracePeriodSeconds is %v, but shutdown.notice and shutdown.deadline of the configuration take %v seconds: requests under way would be killed." $values.terminationGracePeriodSeconds (addf $notice $deadline)) }}
{{- end }}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) }}
{{- $wrong = append $wrong "ingress.enabled needs ingress.hosts." }}
{{- end }}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}
{{- $wrong = append $wrong "httpRoute.enabled needs httpRoute.parentRefs." }}
{{- end }}
{{- if and $values.serviceMonitor.enabled (or (not $values.serviceMonitor.credentials.name) (not $values.serviceMonitor.credentials.key)) }}
{{- $wrong = append $wrong "serviceMonitor.enabled needs serviceMonitor.credentials: the Secret with an API key that may read metrics." }}
{{- end }}

{{- if $wrong }}
{{- fail (printf "\n- %s\n" (join "\n- " $wrong)) }}
{{- end }}
{{- end }}
