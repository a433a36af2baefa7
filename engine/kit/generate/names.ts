import { createHash } from 'node:crypto'
import type { Restore } from '../../spec/translation.ts'
import { GatewayError } from '../../spec/error.ts'
import type { CustomTool, FunctionTool, Tool, ToolChoice } from '../../spec/tool.ts'

interface Named {
  readonly name: string
  readonly namespace?: string
}

/** The namespace whose tools are called by their bare names, like tools without a namespace. */
const bareNamespace = 'functions'

/** The name of a tool in a protocol without namespaces. */
export function flatName({ name, namespace }: Named): string {
  return namespace === undefined || namespace === bareNamespace ? name : `${namespace}__${name}`
}

/** Finds a tool by name and namespace, by flattened name, or by bare name. */
export type FindTool = (meant: Named) => FunctionTool | CustomTool | undefined

/** The tools of one request by all their names; the first of several with the same name wins. */
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
 * Whether a tool of this name may be called. If the request has built-in tools of the vendors of `protocol`, the name
 * may be one of theirs.
 */
export function callable(tools: readonly Tool[], protocol: string): (meant: Named) => boolean {
  const find = toolsByName(tools)
  const brought = tools.some((tool) => tool.type === 'opaque' && tool.protocol === protocol && !tool.search)
  return (meant) => brought || find(meant) !== undefined
}

/** Throws `invalid_value` when the tool choice of a client of `protocol` names a tool that it did not declare. */
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

/** The names of one request's tools at an upstream without namespaces and with shorter names. */
export interface ToolNames {
  /** The name that the upstream sees. An undeclared tool (an old call in the history) is renamed in the same way. */
  printed(tool: Named): string
  /** Maps the upstream's names back; `as-functions`: custom tools were sent as functions with one `input`. */
  restore(customs: 'as-functions' | 'as-customs'): Restore
}

/**
 * Names for `tools` of at most `limit` letters, digits, `_` and `-`. Namespaces flatten to `namespace__name`; a name
 * that is too long or has other characters ends in a hash of itself. Throws `invalid_value` when a tool of a
 * namespace flattens to the name of another tool.
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

/** The client's name of a tool called by an upstream. `kind` is `custom` only for a custom tool sent as a function. */
export function restored(restore: Restore | undefined, name: string): Named & { readonly kind: 'function' | 'custom' } {
  return restore?.tools.get(name) ?? { name, kind: 'function' }
}

/** A call id that every protocol accepts: unchanged if possible, otherwise a hash of it. */
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

/** Tools without a namespace come first: their names take precedence. */
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
