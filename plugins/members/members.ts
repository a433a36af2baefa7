import { defineService } from '../../engine/index.ts'
import { ChangePoll } from '../../engine/kit.ts'
import { MemberStore } from './member-store.ts'
import type { Member } from './member.ts'
import { migrations } from './table.ts'

/** The people who may sign in, from an index in memory that follows other processes within a second. */
export interface Members {
  find(id: string): Member | undefined
  /** Calls a function after every change of a member, until the returned function is called. */
  onChange(listener: () => void): () => void
  /** For the stages and services of this plugin. */
  readonly store: MemberStore
}

declare module '../../engine/index.ts' {
  interface Services {
    members: Members
  }
}

/** Milliseconds between two checks for changes by other processes. */
const poll = 500

/** Knows who may sign in, and what each member may do. */
export default defineService({
  name: 'members',
  summary: 'The people who may sign in.',
  migrations,
  async open(host) {
    const store = new MemberStore(host)
    await store.refresh()
    // Sockets of members who lost their access are closed at once.
    store.onChange(() => host.recheck())
    const following = new ChangePoll({
      poll: () => store.poll(),
      changed: () => undefined,
      unknown: 'members and sessions changed by other processes are not known',
    })
    const polling = setInterval(() => void following.look(), poll).unref()
    const view: Members = {
      find: (id) => store.find(id),
      onChange: (listener) => store.onChange(listener),
      store,
    }
    return {
      configure: () => ({ view }),
      status: () => following.problem,
      close: () => clearInterval(polling),
    }
  },
})
