/** Seconds after which the gateway is asked again at most. */
const longest = 30

/** Seconds until the gateway is asked again, 0 while it is; null: it answers. */
let left: number | null = null
/** Grows with each silence, so that what asks during one ends with it. */
let silences = 0
let skip = () => {}
const listeners = new Set<() => void>()

export const secondsOfSilence = (): number | null => left

/** Tells of each second, and of the end. Returns what ends it. */
export function onSilence(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Asks at once. */
export const askNow = (): void => skip()

/** Nobody answered a request. The gateway is asked again after 1, 2, 4 … 30 seconds. */
export function noteSilence(): void {
  if (left !== null) return
  silences += 1
  void askAgain(silences)
}

/** A request was answered, whatever the answer was. */
export function noteAnswer(): void {
  if (left !== null) tell(null)
}

function tell(seconds: number | null): void {
  left = seconds
  for (const listener of listeners) listener()
}

/** Whether somebody answers now. */
export const answers = (): Promise<boolean> =>
  fetch('/api/health/live', { cache: 'no-store', credentials: 'omit' }).then(
    () => true,
    () => false,
  )

/** Resolves when the gateway answers again. */
export function endOfSilence(): Promise<void> {
  return new Promise((resolve) => {
    const stop = onSilence(() => {
      if (left !== null) return
      stop()
      resolve()
    })
  })
}

async function askAgain(silence: number): Promise<void> {
  const isOver = () => left === null || silence !== silences
  for (let wait = 1; ; wait = Math.min(longest, wait * 2)) {
    await countdown(wait, isOver)
    if (isOver()) return
    tell(0)
    // Each one waits for the one before.
    // oxlint-disable-next-line no-await-in-loop
    if ((await answers()) && !isOver()) noteAnswer()
    if (isOver()) return
  }
}

/** Waits so many seconds, fewer if somebody wants to ask. */
async function countdown(seconds: number, isOver: () => boolean): Promise<void> {
  for (let rest = seconds; rest > 0; rest -= 1) {
    tell(rest)
    const isSkipped = await second()
    if (isSkipped || isOver()) return
  }
}

/** Waits a second; true if somebody does not want to. */
function second(): Promise<boolean> {
  return new Promise((resolve) => {
    skip = () => resolve(true)
    setTimeout(() => resolve(false), 1000)
  })
}
