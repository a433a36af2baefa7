import { hash } from 'node:crypto'
import { canonical } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'

/** What models read of a tool, beside its name. */
export type Definition = {
  readonly description: string | null
  readonly input_schema: Json
}

/** What models read of a tool that a server offers. A description that is no text is none. */
export function definitionOf({ description, inputSchema }: JsonObject): Definition {
  return { description: typeof description === 'string' ? description : null, input_schema: inputSchema ?? null }
}

/** The hash of what clients, and their models, read of a tool: its name, description and schema. */
export function hashOf({ name, description, inputSchema }: JsonObject): string {
  const read = { name, ...(description === undefined ? {} : { description }), inputSchema: inputSchema ?? null }
  return hash('sha256', canonical(read))
}
