import { createHash } from 'node:crypto'
import type { Restore } from '../spec/codec.ts'
import type { Tool } from '../spec/tool.ts'

interface Named {
  readonly name: string
  readonly namespace?: string
}

/** How the tools of one request are called at an upstream that has no namespaces and shorter names. */
export interface ToolNames {
  /** The name the upstream sees. A tool that was not declared (an old call in the history) is renamed alike. */
  printed(tool: Named): string
  /** What leads from the upstream's names back; `as-functions`: custom tools went as functions with one `input`. */
  restore(customs: 'as-functions' | 'native'): Restore
}

/**
 * Names for `tools` of at most `limit` characters out of letters, digits, `_` and `-`.
 * Namespaces flatten to `namespace__name`; what is too long or has other characters ends in a hash of itself.
 */
export function toolNames(tools: readonly Tool[], limit: number): ToolNames {
  const printed = ({ name, namespace }: Named) => legal(namespace === undefined ? name : `${namespace}__${name}`, limit)
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

function legal(name: string, limit: number): string {
  if (name.length <= limit && /^[\w-]+$/.test(name)) return name
  const suffix = `_${hash(name, 8)}`
  return name.replace(/[^\w-]/g, '_').slice(0, limit - suffix.length) + suffix
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
