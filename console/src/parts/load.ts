import { answers, endOfSilence, noteSilence } from '../api/silence.ts'

/**
 * Loads a part of the page. Where nobody answers, it waits until somebody does, and loads it again; a part that is not
 * there then is an error.
 */
export async function whenAnswered<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    if (!(await answers())) {
      noteSilence()
      await endOfSilence()
    }
    loadStylesAgain()
    return load()
  }
}

/** A part counts its style sheets as loaded once it has asked for them. */
function loadStylesAgain(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]'))
    if (link.sheet === null) link.replaceWith(link.cloneNode())
}
