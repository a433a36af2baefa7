export * from '../../engine/conformance/upstream.ts'
