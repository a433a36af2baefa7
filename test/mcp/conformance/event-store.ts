import type { EventStore } from '@modelcontextprotocol/server'

/** Keeps every event in memory, so that streams can be resumed. */
export function eventStore(): EventStore {
  const events: { readonly id: string; readonly stream: string; readonly message: unknown }[] = []
  return {
    async storeEvent(stream, message) {
      const id = `${stream}_${events.length}`
      events.push({ id, stream, message })
      return id
    },
    async replayEventsAfter(last, { send }) {
      const at = events.findIndex(({ id }) => id === last)
      const stream = events[at]?.stream ?? ''
      for (const event of events.slice(at + 1))
        // The first event of a stream has no message.
        if (event.stream === stream && Object.keys(event.message as object).length > 0)
          await send(event.id, event.message as never)
      return stream
    },
  }
}
