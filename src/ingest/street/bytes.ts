/** A growing run of little-endian bytes. */
export class ByteSink {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** A copy of what was written. */
  copy(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** A view of bytes, valid until more are written. */
  view(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(from, to);
  }

  u8(value: number): void {
    const at = this.#advance(1);
    this.#view.setUint8(at, value);
  }

  u16(value: number): void {
    const at = this.#advance(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    const at = this.#advance(4);
    this.#view.setUint32(at, value, true);
  }

  i32(value: number): void {
    const at = this.#advance(4);
    this.#view.setInt32(at, value, true);
  }

  /** A signed integer in a variable number of bytes, fewer for small values. */
  zigzag(value: number): void {
    let rest = value < 0 ? -value * 2 - 1 : value * 2;
    while (rest >= 128) {
      this.u8((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.u8(rest);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#advance(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Overwrites an integer, such as a length that was not known before. */
  patchU32(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  patchU16(at: number, value: number): void {
    this.#view.setUint16(at, value, true);
  }

  #advance(more: number): number {
    const at = this.#length;
    this.#length += more;
    if (this.#length > this.#bytes.length) {
      const next = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      next.set(this.#bytes);
      this.#bytes = next;
      this.#view = new DataView(next.buffer);
    }
    return at;
  }
}

/** A growing column of 32-bit integers, so that millions of rows need no objects. */
export class IntColumn {
  #values = new Int32Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const next = new Int32Array(this.#values.length * 2);
      next.set(this.#values);
      this.#values = next;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  at(index: number): number {
    return this.#values[index]!;
  }
}
