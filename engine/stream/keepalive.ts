import { duration } from '../spec/duration.ts'

/** Checks per interval: a keep-alive may be sent early by at most this fraction of the interval. */
const looks = 16

/** A watched stream. The sender sets `quiet` to 0 whenever it sends something. */
export interface Beat {
  /** Checks since the last send. */
  quiet: number
  /** Undefined once stopped: the set's outgrown internal tables must not keep a finished stream alive. */
  say: (() => void) | undefined
  stop(): void
}

/**
 * The streams that send a keep-alive after one interval of silence. All streams of an interval share one timer, which
 * runs only while there are any.
 */
class Interval {
  readonly #every: number
  readonly #watched = new Set<Beat>()
  #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number) {
    this.#every = Math.max(1, Math.floor(milliseconds / looks))
  }

  watch(say: () => void): Beat {
    const beat: Beat = { quiet: 0, say, stop: () => this.#forget(beat) }
    this.#watched.add(beat)
    this.#timer ??= setInterval(() => this.#look(), this.#every).unref()
    return beat
  }

  #look(): void {
    for (const beat of this.#watched) {
      if (++beat.quiet < looks) continue
      beat.quiet = 0
      beat.say?.()
    }
  }

  #forget(beat: Beat): void {
    beat.say = undefined
    this.#watched.delete(beat)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const intervals = new Map<string, Interval | undefined>()

/**
 * Calls `say` after every `interval` of silence, a duration as text. Returns undefined for an interval of 0, which
 * turns it off.
 */
export function watchSilence(interval: string, say: () => void): Beat | undefined {
  if (!intervals.has(interval)) {
    const milliseconds = duration(interval)
    intervals.set(interval, milliseconds > 0 ? new Interval(milliseconds) : undefined)
  }
  return intervals.get(interval)?.watch(say)
}
