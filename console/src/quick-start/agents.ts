import { quoted } from '../parts/curl.ts'
import { keyVariable } from './client.ts'
import type { Client } from './client.ts'
import { literal } from './literals.ts'

/** Codex; it speaks the responses protocol and takes a WebSocket where the gateway offers one. */
export const codex: Client = {
  id: 'codex',
  title: 'Codex',
  install: 'npm install --global @openai/codex',
  pastes: [
    {
      path: '~/.codex/config.toml',
      language: 'toml',
      text: ({ origin, model }) => `model = ${literal(model)}
model_provider = "sluice"

[model_providers.sluice]
name = "Sluice"
base_url = ${literal(`${origin}/v1`)}
env_key = "${keyVariable}"
wire_api = "responses"
supports_websockets = true
`,
    },
  ],
  check: () => 'codex exec "Say hello."',
}

/** Claude Code; it takes the gateway from the environment. */
export const claudeCode: Client = {
  id: 'claude-code',
  title: 'Claude Code',
  install: 'npm install --global @anthropic-ai/claude-code',
  pastes: [
    {
      path: null,
      language: 'sh',
      text: ({ origin, model }) => `export ANTHROPIC_BASE_URL=${quoted(origin)}
export ANTHROPIC_API_KEY="$${keyVariable}"
export ANTHROPIC_MODEL=${quoted(model)}
export ANTHROPIC_SMALL_FAST_MODEL='fast'
`,
    },
  ],
  check: () => 'claude -p "Say hello."',
}

/** opencode, by its provider for compatible endpoints. */
export const opencode: Client = {
  id: 'opencode',
  title: 'opencode',
  install: 'npm install --global opencode-ai',
  pastes: [
    {
      path: 'opencode.json',
      language: 'json',
      text: ({ origin, model }) =>
        json({
          $schema: 'https://opencode.ai/config.json',
          model: `sluice/${model}`,
          provider: {
            sluice: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Sluice',
              options: { baseURL: `${origin}/v1`, apiKey: `{env:${keyVariable}}` },
              models: { [model]: {} },
            },
          },
        }),
    },
  ],
  check: () => 'opencode run "Say hello."',
}

/** Qwen Code, by the variables of its compatible endpoint. */
export const qwenCode: Client = {
  id: 'qwen-code',
  title: 'Qwen Code',
  install: 'npm install --global @qwen-code/qwen-code',
  pastes: [
    {
      path: '~/.qwen/settings.json',
      language: 'json',
      text: ({ origin, model }) =>
        json({
          security: { auth: { selectedType: 'openai' } },
          model: { name: model },
          modelProviders: { openai: [{ id: model, name: model, baseUrl: `${origin}/v1`, envKey: keyVariable }] },
        }),
    },
  ],
  check: () => 'qwen -p "Say hello."',
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
