/** What the vendor accepts in place of a signature, for calls of other models and calls whose signature is lost. */
export const placeholderSignature = 'skip_thought_signature_validator'
