/** A page that was open. */
export interface Place {
  readonly title: string
  /** With its query. */
  readonly path: string
}

const place = 'sluice-recent'
const most = 5

/** The latest pages of this tab, the newest first. */
export const recentPlaces = (): readonly Place[] =>
  JSON.parse(sessionStorage.getItem(place) ?? '[]') as readonly Place[]

/** Notes that a page was opened; one of the same path takes the place of the earlier one. */
export function notePlace(title: string): void {
  const path = location.pathname + location.search
  const pathOf = (text: string) => text.split('?')[0]
  const others = recentPlaces().filter((one) => pathOf(one.path) !== pathOf(path))
  sessionStorage.setItem(place, JSON.stringify([{ title, path }, ...others].slice(0, most)))
}
