import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where a client finds the gateway. */
export interface At {
  readonly url: string
  readonly key: string
}

/** What a client printed, and how it ended. */
export interface Ran {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** Milliseconds. */
const deadline = 90_000
/** Nothing listens there: what a client asks of anyone but the gateway goes nowhere. */
const nowhere = 'http://127.0.0.1:9'

/** Lets Codex work on a prompt, over a WebSocket or over server-sent events. */
export function codex(start: readonly string[], prompt: string, model: string, at: At, sockets: boolean): Promise<Ran> {
  return inFolder(async (home) => {
    await writeFile(
      join(home, 'config.toml'),
      [
        `model = "${model}"`,
        'model_provider = "sluice"',
        'approval_policy = "never"',
        // The only command is one of ours; not every machine has what the sandbox needs.
        'sandbox_mode = "danger-full-access"',
        'check_for_update_on_startup = false',
        '[analytics]',
        'enabled = false',
        '[model_providers.sluice]',
        'name = "sluice"',
        `base_url = "${at.url}/v1"`,
        'env_key = "SLUICE_KEY"',
        'wire_api = "responses"',
        `supports_websockets = ${sockets}`,
        'request_max_retries = 0',
        'stream_max_retries = 0',
        '[mcp_servers.docs]',
        `url = "${at.url}/servers/docs/mcp"`,
        'bearer_token_env_var = "SLUICE_KEY"',
      ].join('\n'),
    )
    const args = ['exec', '--skip-git-repo-check', '--cd', home, '--color', 'never', prompt]
    return run([...start, ...args], home, { CODEX_HOME: home, SLUICE_KEY: at.key })
  })
}

/** Lets Claude Code work on a prompt. */
export function claude(start: readonly string[], prompt: string, model: string, at: At): Promise<Ran> {
  return inFolder((home) => {
    const docs = { type: 'http', url: `${at.url}/servers/docs/mcp`, headers: { Authorization: `Bearer ${at.key}` } }
    const servers = ['--strict-mcp-config', '--mcp-config', JSON.stringify({ mcpServers: { docs } })]
    const tools = ['--allowed-tools', 'Bash', 'mcp__docs__lookup']
    const args = ['-p', prompt, '--model', model, ...servers, ...tools, '--output-format', 'text']
    return run([...start, ...args], home, {
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      ANTHROPIC_BASE_URL: at.url,
      ANTHROPIC_API_KEY: at.key,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_MAX_RETRIES: '0',
      // Otherwise it searches for tools of MCP servers before it can call one.
      ENABLE_TOOL_SEARCH: 'false',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
    })
  })
}

async function inFolder(work: (folder: string) => Promise<Ran>): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-client-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function run([file = '', ...args]: readonly string[], cwd: string, environment: Record<string, string>): Promise<Ran> {
  const { PATH = '', HOME = cwd } = process.env
  const proxies = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, ALL_PROXY: nowhere, NO_PROXY: '127.0.0.1' }
  const env = { PATH, HOME, ...proxies, ...environment }
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: deadline })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output, errors }))
  })
}
