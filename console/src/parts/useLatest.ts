import { useEffect, useRef } from 'react'

/** The value of the last time that it was drawn, for what is done later. */
export function useLatest<T>(value: T): React.RefObject<T> {
  const latest = useRef(value)
  useEffect(() => {
    latest.current = value
  })
  return latest
}
