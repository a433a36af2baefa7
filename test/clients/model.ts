import type { Json, JsonObject } from '../../engine/index.ts'
import { chatFrames, messagesFrames, responsesFrames } from '../service/streams.ts'
import type { ScriptedFrame } from '../service/streams.ts'
import type { RecordedRequest, Script } from '../support/upstream.ts'
import { found } from './lookup-server.ts'
import { chatCall, messagesCall, responsesCall } from './calls.ts'
import type { ToolName } from './calls.ts'

/** What an upstream speaks. */
export type Kind = 'responses' | 'chat' | 'messages'

/** Words in a prompt that make the scripted model call its shell. */
export const wantsShell = 'run the shell round'
/** Prints the marker, which the command itself does not spell. */
export const command = 'echo sluice-$((40 + 2))'
export const marker = 'sluice-42'
/** The proof of the model's reasoning, which must come back unchanged. */
export const proof = 'cHJvb2Ygb2YgcmVhc29uaW5n'

/** Words in a prompt that make it call the tool of the MCP server. */
export const wantsLookup = 'look the number up'
/** What it says when the answer of the tool has come back. */
export const lookedUp = `The server said ${found}.`

/** What the model says in a text round. */
export const greeting = 'Hello from the scripted model.'
/** What it says when the shell's output has come back, and the reasoning too where the protocol can carry it. */
export const seen = (kind: Kind) => `The shell said ${marker}; reasoning ${kind === 'chat' ? 'not asked' : 'kept'}.`

const text: Record<Kind, (...texts: string[]) => readonly ScriptedFrame[]> = {
  responses: responsesFrames,
  chat: chatFrames,
  messages: messagesFrames,
}
const call: Record<Kind, (tool: ToolName, input: string) => readonly ScriptedFrame[]> = {
  responses: responsesCall,
  chat: chatCall,
  messages: messagesCall,
}

/** Answers a request as the scripted model does: with a text, or with a call of the client's shell and what it saw. */
export function scriptedModel(kind: Kind): (request: RecordedRequest) => Script {
  return ({ body: bytes }) => {
    const body = JSON.parse(bytes.toString()) as JsonObject
    const said = bytes.toString()
    const tools = toolsOf(body)
    const lookup = tools.find(({ name }) => name.endsWith('lookup'))
    if (said.includes(wantsLookup) && lookup !== undefined)
      return { frames: said.includes(found) ? text[kind](lookedUp) : call[kind](lookup, '{ }') }
    const tool = tools.find(({ name }) => shells.has(name))
    if (!said.includes(wantsShell) || tool === undefined) return { frames: text[kind](...greeting.split(/(?<= )/)) }
    if (!said.includes(marker)) return { frames: call[kind](tool, JSON.stringify(inputFor(tool.name))) }
    const kept = kind === 'chat' ? 'not asked' : said.includes(proof) ? 'kept' : 'lost'
    return { frames: text[kind](`The shell said ${marker}; `, `reasoning ${kept}.`) }
  }
}

/** The clients' names for their shell. */
const shells: ReadonlySet<string> = new Set(['exec_command', 'shell_command', 'shell', 'Bash'])

function inputFor(tool: string): Json {
  if (tool === 'exec_command') return { cmd: command }
  if (tool === 'shell') return { command: ['bash', '-lc', command] }
  if (tool === 'Bash') return { command, description: 'Say a number' }
  return { command }
}

interface Tool {
  readonly name?: string
  readonly function?: { readonly name: string }
  /** Those of a namespace. */
  readonly tools?: readonly { readonly name: string }[]
}

function toolsOf({ tools }: JsonObject): readonly ToolName[] {
  return ((tools ?? []) as unknown as readonly Tool[]).flatMap(({ name, function: inner, tools: own }): ToolName[] => {
    if (own !== undefined && name !== undefined) return own.map((one) => ({ name: one.name, namespace: name }))
    const called = inner?.name ?? name
    return called === undefined ? [] : [{ name: called }]
  })
}
