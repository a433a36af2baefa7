// What the pool was asked to keep loaded leaves a mark in its thread.
Reflect.set(globalThis, 'loadedByThePool', true)

export default () => undefined
