import type { Answers } from './answers.ts'
/** Who is signed in, as `POST /api/auth/login` answers. */
export type Session = Answers['sign-in']

/** A session, and when this browser got it (milliseconds since 1970). */
interface Held {
  readonly session: Session
  readonly since: number
}

/** What tabs of one browser tell each other. */
type Told = { readonly kind: 'asks' } | { readonly kind: 'has'; readonly held: Held } | { readonly kind: 'left' }

/** What holds the token: memory and the tab's own storage; never `localStorage`, an address or a log. */
const place = 'sluice-session'
const tabs = new BroadcastChannel(place)
let held: Held | null = read()
/** The session ended while a page was open: a dialog asks for the password again, and the page stays. */
let over = false
const listeners = new Set<() => void>()

function read(): Held | null {
  const text = sessionStorage.getItem(place)
  return text === null ? null : (JSON.parse(text) as Held)
}

function put(next: Held | null): void {
  held = next
  over = false
  if (next) sessionStorage.setItem(place, JSON.stringify(next))
  else sessionStorage.removeItem(place)
  for (const listener of listeners) listener()
}

tabs.addEventListener('message', ({ data }: MessageEvent<Told>) => {
  if (data.kind === 'asks' && held && !over) tabs.postMessage({ kind: 'has', held } satisfies Told)
  // A tab of somebody else's stays his own until he signs out there.
  if (data.kind === 'has' && (!held || held.session.user.id === data.held.session.user.id)) {
    if (!held || over || data.held.since > held.since) put(data.held)
  }
  if (data.kind === 'left') put(null)
})

export const heldSession = (): Session | null => held?.session ?? null
export const sessionIsOver = (): boolean => over

/** Whether half of the session's life is over. */
export function isHalfOver(now = Date.now()): boolean {
  return held !== null && now > (held.since + Date.parse(held.session.expires_at)) / 2
}

export function holdSession(session: Session): void {
  const next = { session, since: Date.now() }
  put(next)
  tabs.postMessage({ kind: 'has', held: next } satisfies Told)
}

/** The gateway refused the token. */
export function endSession(): void {
  over = true
  sessionStorage.removeItem(place)
  for (const listener of listeners) listener()
}

/** The user signed out: in this tab and in every other one. */
export function forgetSession(): void {
  put(null)
  tabs.postMessage({ kind: 'left' } satisfies Told)
}

/** How long a new tab waits for another one to answer. */
const patienceMilliseconds = 150

/** Asks the other tabs of this browser for their session. Resolves at once if this tab has one. */
export async function sharedSession(): Promise<void> {
  if (held) return
  await new Promise<void>((resolve) => {
    const done = () => {
      stop()
      resolve()
    }
    const stop = onSession(done)
    setTimeout(done, patienceMilliseconds)
    tabs.postMessage({ kind: 'asks' } satisfies Told)
  })
}

/** For `useSyncExternalStore`. */
export function onSession(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}
