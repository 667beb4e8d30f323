import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One HTML file with everything in it: the report opens offline and needs no server.
export default defineConfig({
  plugins: [react(), viteSingleFile()],
  build: { outDir: "../src/seatrial/web/page", emptyOutDir: true, target: "es2022", reportCompressedSize: false },
});
