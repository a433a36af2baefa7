const place = 'sluice-keys'

/** Whether single letters act; kept per browser (WCAG 2.1.4). */
export const keysAreOn = (): boolean => localStorage.getItem(place) !== 'off'
export const switchKeys = (on: boolean): void => localStorage.setItem(place, on ? 'on' : 'off')
