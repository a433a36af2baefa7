import { useEffect, useRef, useState } from 'react'
import { words } from './words.ts'

interface Recorder {
  readonly isOn: boolean
  /** Begins, or ends, a recording. */
  readonly toggle: () => void
  /** Why nothing can be recorded. */
  readonly error: string | undefined
}

/** Records the microphone of the browser. */
export function useRecorder(onRecorded: (file: File) => void): Recorder {
  const [isOn, setOn] = useState(false)
  const [error, setError] = useState<string>()
  const running = useRef<MediaRecorder>(null)
  useEffect(() => () => running.current?.stream.getTracks().forEach((track) => track.stop()), [])

  async function start(): Promise<void> {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
    const recorder = new MediaRecorder(stream)
    const parts: Blob[] = []
    recorder.ondataavailable = ({ data }) => parts.push(data)
    recorder.onstop = () => {
      for (const track of stream.getTracks()) track.stop()
      const [type = 'audio/webm'] = recorder.mimeType.split(';')
      onRecorded(new File(parts, `recording.${type.split('/')[1]}`, { type }))
      setOn(false)
    }
    recorder.start()
    running.current = recorder
    setOn(true)
  }

  const toggle = () => {
    if (isOn) return running.current?.stop()
    setError(undefined)
    // Only pages with a secure address have a microphone, and only if the user allows it.
    start().catch(() => setError(words.noMicrophone))
  }
  return { isOn, toggle, error }
}
