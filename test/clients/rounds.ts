import { claudeCode, codex as codexClient } from '../../console/src/quick-start/agents.ts'
import { mcp } from '../../console/src/quick-start/mcp.ts'
import { runPasted } from './pasted.ts'
import type { Installed } from './install.ts'
import type { At, Ran } from './pasted.ts'

/** In front of Codex's file: its only command is one of ours, and not every machine has what the sandbox needs. */
export const settings = `approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
analytics = { enabled = false }
`

/** Lets Codex work on a prompt, over a WebSocket or over server-sent events, set up as the quick start says. */
export function codex(installed: Installed, prompt: string, model: string, at: At, sockets: boolean): Promise<Ran> {
  const provider = 'model_providers.sluice'
  const further = [
    `${provider}.supports_websockets=${sockets}`,
    `${provider}.request_max_retries=0`,
    `${provider}.stream_max_retries=0`,
  ]
  const options = further.map((option) => `-c ${option}`).join(' ')
  const check = `codex exec ${options} --skip-git-repo-check --cd "$HOME" --color never "$PROMPT"`
  const around = {
    ...installed,
    environment: { PROMPT: prompt },
    before: { '~/.codex/config.toml': settings },
  }
  return runPasted(withServers(codexClient), at, model, around, check)
}

/** Lets Claude Code work on a prompt, set up as the quick start says. */
export function claude(installed: Installed, prompt: string, model: string, at: At): Promise<Ran> {
  const check = [
    'export ANTHROPIC_SMALL_FAST_MODEL="$ANTHROPIC_MODEL"',
    'claude -p "$PROMPT" --strict-mcp-config --mcp-config .mcp.json --allowed-tools Bash mcp__docs__lookup --output-format text',
  ].join('\n')
  return runPasted(
    withServers(claudeCode),
    at,
    model,
    { ...installed, environment: { PROMPT: prompt, ...quiet } },
    check,
  )
}

/** What keeps Claude Code from asking anybody but the gateway. */
export const quiet = {
  CLAUDE_CODE_MAX_RETRIES: '0',
  // Otherwise it searches for tools of MCP servers before it can call one.
  ENABLE_TOOL_SEARCH: 'false',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
} as const

/** The client with the texts for MCP after its own. */
function withServers(client: typeof codexClient): typeof codexClient {
  return { ...client, pastes: [...client.pastes, ...mcp.pastes] }
}
