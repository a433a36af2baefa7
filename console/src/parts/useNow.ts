import { useEffect, useState } from 'react'

/** The present moment in milliseconds since 1970, new each second: for what counts down. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}
