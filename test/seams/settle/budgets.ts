import { GatewayError, defineService } from 'sluice'

/** A part of a budget that is set aside for one exchange. */
export interface Hold {
  /** Puts what was spent in its place. What nobody knows the cost of costs what was set aside. */
  settle(micros: number | undefined): void
}

/** What may be spent, and how much is being done at once. */
export interface Budgets {
  /** Sets something aside. Waits for its ledger, and rejects where there is not enough left. */
  reserve(micros: number): Promise<Hold>
  /** Takes a place among those that may be served at once. */
  enter(): { leave(): void }
  note(what: string): void
  /** Waits until `open` was called, if it is closed. */
  gate(): Promise<void>
  open(): void
  shut(): void
  readonly state: { held: number; spent: number; inside: number; readonly notes: string[] }
}

declare module 'sluice' {
  interface Services {
    acme_budgets: Budgets
  }
}

export default defineService({
  name: 'acme_budgets',
  summary: 'What may be spent, and how much may be done at once.',
  settings: {
    type: 'object',
    additionalProperties: false,
    properties: {
      micros: { type: 'integer', minimum: 0, default: 1_000_000, description: 'What may be spent, in micro-USD.' },
      places: { type: 'integer', minimum: 1, default: 100, description: 'How many may be served at once.' },
    },
  } as const,
  open(host) {
    const state = { held: 0, spent: 0, inside: 0, notes: [] as string[] }
    let opened: PromiseWithResolvers<void> | undefined
    const view = ({ micros, places }: { micros: number; places: number }): Budgets => ({
      state,
      note: (what) => void state.notes.push(what),
      async reserve(wanted) {
        // As a ledger in a store would: others get their turn meanwhile.
        await new Promise(setImmediate)
        if (state.held + state.spent + wanted > micros)
          throw new GatewayError('refused', {}, { status: 429, code: 'acme_budget', message: 'The budget is used up.' })
        state.held += wanted
        return {
          settle(used = wanted) {
            state.held -= wanted
            state.spent += used
          },
        }
      },
      enter() {
        if (state.inside >= places)
          throw new GatewayError('refused', {}, { status: 429, code: 'acme_places', message: 'Too many at once.' })
        state.inside++
        return { leave: () => void state.inside-- }
      },
      gate: async () => opened?.promise,
      shut: () => void (opened ??= Promise.withResolvers()),
      open() {
        opened?.resolve()
        opened = undefined
      },
    })
    return {
      configure: (settings) => ({ view: view(settings) }),
      close: () => host.log.info({ state }, 'the budgets are closed'),
    }
  },
})
