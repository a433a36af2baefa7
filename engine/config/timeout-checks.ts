import { duration, isDuration, isTooShort, tooShort } from '../spec/duration.ts'
import type { JsonObject } from '../spec/json.ts'

/**
 * Warns of time-outs in which nothing can be done, and of those that are longer than the whole (`total`).
 * @param timeouts as they are written, without defaults
 */
export function checkTimeouts(
  timeouts: JsonObject,
  warn: (path: string[], code: string, message: string) => void,
): void {
  const { total } = timeouts
  for (const [field, value] of Object.entries(timeouts)) {
    if (isTooShort(value)) warn([field], 'timeout', tooShort)
    else if (isDuration(total) && isDuration(value) && !isTooShort(total) && duration(value) > duration(total))
      warn([field], 'timeout', `is longer than total (${total}), which ends the request before`)
  }
}
