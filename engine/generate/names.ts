import { createHash } from 'node:crypto'
import type { Restore } from '../spec/translation.ts'
import { GatewayError } from '../spec/error.ts'
import type { CustomTool, FunctionTool, Tool, ToolChoice } from '../spec/tool.ts'

interface Named {
  readonly name: string
  readonly namespace?: string
}

/** The namespace whose tools are called by their bare names, as those of no namespace are. */
const bareNamespace = 'functions'

/** What a tool is called where there are no namespaces. */
export function flatName({ name, namespace }: Named): string {
  return namespace === undefined || namespace === bareNamespace ? name : `${namespace}__${name}`
}

/** Finds the tool that is meant by a name with its namespace, by a flattened name, or by a name alone. */
export type FindTool = (meant: Named) => FunctionTool | CustomTool | undefined

/** The tools of one request by all their names; of several with the same name it is the first. */
export function toolsByName(tools: readonly Tool[]): FindTool {
  const callable = tools.filter((tool) => tool.type !== 'opaque').toReversed()
  const exact = new Map(callable.map((tool) => [exactName(tool), tool]))
  const flat = new Map(callable.map((tool) => [flatName(tool), tool]))
  const bare = new Map(callable.map((tool) => [tool.name, tool]))
  return (meant) =>
    exact.get(exactName(meant)) ??
    (meant.namespace === undefined ? (flat.get(meant.name) ?? bare.get(meant.name)) : undefined)
}

/**
 * Whether a tool of this name may be called. Where there are tools that the vendors of `protocol` bring, the name may
 * be one of theirs.
 */
export function callable(tools: readonly Tool[], protocol: string): (meant: Named) => boolean {
  const find = toolsByName(tools)
  const brought = tools.some((tool) => tool.type === 'opaque' && tool.protocol === protocol && !tool.search)
  return (meant) => brought || find(meant) !== undefined
}

/** Throws `invalid_value` for a choice of a tool that a client of `protocol` did not declare. */
export function requireChosen(tools: readonly Tool[], choice: ToolChoice | undefined, protocol: string): void {
  if (choice?.type !== 'tool' && choice?.type !== 'allowed') return
  const known = callable(tools, protocol)
  const missing = (choice.type === 'tool' ? [choice] : choice.tools).find((tool) => !known(tool))
  if (!missing) return
  const reason = `there is no tool "${flatName(missing).slice(0, 128)}" among the tools`
  throw new GatewayError('invalid_value', { param: 'tool_choice', reason })
}

function exactName({ name, namespace }: Named): string {
  return JSON.stringify([namespace, name])
}

/** How the tools of one request are called at an upstream that has no namespaces and shorter names. */
export interface ToolNames {
  /** The name the upstream sees. A tool that was not declared (an old call in the history) is renamed alike. */
  printed(tool: Named): string
  /** What leads from the upstream's names back; `as-functions`: custom tools went as functions with one `input`. */
  restore(customs: 'as-functions' | 'as-customs'): Restore
}

/**
 * Names for `tools` of at most `limit` characters out of letters, digits, `_` and `-`.
 * Namespaces flatten to `namespace__name`; what is too long or has other characters ends in a hash of itself.
 * Throws `invalid_value` where a tool of a namespace flattens to the name of another tool.
 */
export function toolNames(tools: readonly Tool[], limit: number): ToolNames {
  refuseCollisions(tools)
  const printed = (tool: Named) => legal(flatName(tool), limit)
  return {
    printed,
    restore: (customs) => {
      const names = new Map<string, { name: string; namespace?: string; kind: 'function' | 'custom' }>()
      for (const tool of tools) {
        if (tool.type === 'opaque') continue
        const shown = printed(tool)
        const custom = tool.type === 'custom' && customs === 'as-functions'
        if (!custom && shown === tool.name && tool.namespace === undefined) continue
        names.set(shown, {
          name: tool.name,
          ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
          kind: tool.type,
        })
      }
      return { tools: names }
    },
  }
}

/** The client's name of a tool that an upstream calls. `kind` is `custom` only for a custom tool sent as a function. */
export function restored(restore: Restore | undefined, name: string): Named & { readonly kind: 'function' | 'custom' } {
  return restore?.tools.get(name) ?? { name, kind: 'function' }
}

/** A call id every protocol accepts: unchanged where it can be, else a hash of it. */
export function legalCallId(id: string): string {
  return /^[\w-]{1,64}$/.test(id) ? id : `call_${hash(id, 24)}`
}

function refuseCollisions(tools: readonly Tool[]): void {
  const callable = tools.filter((tool) => tool.type !== 'opaque')
  if (callable.every(({ namespace }) => namespace === undefined)) return
  const taken = new Set<string>()
  for (const tool of callable.toSorted((one, other) => rank(one) - rank(other))) {
    const name = flatName(tool)
    if (tool.namespace !== undefined && taken.has(name))
      throw new GatewayError('invalid_value', {
        param: 'tools',
        reason: `a tool of the namespace ${tool.namespace.slice(0, 64)} has the name of another tool, ${name.slice(0, 64)}`,
      })
    taken.add(name)
  }
}

/** Tools of no namespace come first: theirs are the names that are taken. */
function rank({ namespace }: Named): number {
  return namespace === undefined ? 0 : 1
}

function legal(name: string, limit: number): string {
  if (name.length <= limit && /^[\w-]+$/.test(name)) return name
  const suffix = `_${hash(name, 8)}`
  return name.replace(/[^\w-]/g, '_').slice(0, limit - suffix.length) + suffix
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
