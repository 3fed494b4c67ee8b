//! PA_SC: scissors, lines, samples.

use crate::table::signed;

/// The place of sample `n` (0 to 3) of a word of sample places: column and row, signed, in 1/16 pixel from the centre.
#[must_use]
pub(crate) const fn sample_place(word: u32, n: usize) -> [i8; 2] {
    let byte = word.to_le_bytes()[n % 4] as u32;
    [signed(byte, 4) as i8, signed(byte >> 4, 4) as i8]
}

/// The column and row in a word of a scissor. All scissors have them where the screen scissor does, some with fewer bits.
#[must_use]
pub(crate) const fn corner(word: u32) -> [u32; 2] {
    [PA_SC_SCREEN_SCISSOR_TL::TL_X.field.extract(word), PA_SC_SCREEN_SCISSOR_TL::TL_Y.field.extract(word)]
}

registers! {
    PA_SC_SCREEN_SCISSOR_TL = 0x28030, 1 every 4, number, "screen scissor, left and top" {
        TL_X 14:0 [] "left";
        TL_Y 30:16 [] "top";
    }
    PA_SC_SCREEN_SCISSOR_BR = 0x28034, 1 every 4, number, "screen scissor, right and bottom" {
        BR_X 14:0 [] "right";
        BR_Y 30:16 [] "bottom";
    }
    PA_SC_WINDOW_OFFSET = 0x28200, 1 every 4, number, "added to scissors that do not disable it" {
        WINDOW_X_OFFSET 14:0 [] "";
        WINDOW_Y_OFFSET 30:16 [] "";
    }
    PA_SC_WINDOW_SCISSOR_TL = 0x28204, 1 every 4, number, "window scissor, left and top" {
        TL_X 13:0 [] "left";
        TL_Y 29:16 [] "top";
        WINDOW_OFFSET_DISABLE 31:31 [] "do not add PA_SC_WINDOW_OFFSET to this rectangle";
    }
    PA_SC_WINDOW_SCISSOR_BR = 0x28208, 1 every 4, number, "window scissor, right and bottom" {
        BR_X 13:0 [] "right";
        BR_Y 29:16 [] "bottom";
    }
    PA_SC_CLIPRECT_RULE = 0x2820c, 1 every 4, number, "which combinations of clip rectangles are drawn" {
        CLIP_RULE 15:0 [] "bit n: drawn where n says in which rectangles a pixel lies";
    }
    PA_SC_CLIPRECT_0_TL = 0x28210, 4 every 8, number, "clip rectangle, left and top" {
        TL_X 13:0 [] "left";
        TL_Y 29:16 [] "top";
    }
    PA_SC_CLIPRECT_0_BR = 0x28214, 4 every 8, number, "clip rectangle, right and bottom" {
        BR_X 13:0 [] "right";
        BR_Y 29:16 [] "bottom";
    }
    PA_SC_EDGERULE = 0x28230, 1 every 4, number, "which edges own the samples on them" {}
    PA_SC_GENERIC_SCISSOR_TL = 0x28240, 1 every 4, number, "generic scissor, left and top" {
        TL_X 13:0 [] "left";
        TL_Y 29:16 [] "top";
        WINDOW_OFFSET_DISABLE 31:31 [] "";
    }
    PA_SC_GENERIC_SCISSOR_BR = 0x28244, 1 every 4, number, "generic scissor, right and bottom" {
        BR_X 13:0 [] "right";
        BR_Y 29:16 [] "bottom";
    }
    PA_SC_VPORT_SCISSOR_0_TL = 0x28250, 16 every 8, number, "a viewport's scissor, left and top" {
        TL_X 13:0 [] "left";
        TL_Y 29:16 [] "top";
        WINDOW_OFFSET_DISABLE 31:31 [] "";
    }
    PA_SC_VPORT_SCISSOR_0_BR = 0x28254, 16 every 8, number, "a viewport's scissor, right and bottom" {
        BR_X 13:0 [] "right";
        BR_Y 29:16 [] "bottom";
    }
    PA_SC_VPORT_ZMIN_0 = 0x282d0, 16 every 8, float, "least depth of a viewport" {}
    PA_SC_VPORT_ZMAX_0 = 0x282d4, 16 every 8, float, "largest depth of a viewport" {}
    PA_SC_LINE_STIPPLE = 0x28a0c, 1 every 4, number, "pattern of lines" {
        LINE_PATTERN 15:0 [] "";
        REPEAT_COUNT 23:16 [] "pixels of a step - 1";
        PATTERN_BIT_ORDER 28:28 [] "0: bit 0 first (little-endian)";
        AUTO_RESET_CNTL 30:29 [] "when the pattern begins again: 0 never, 1 with each line, 2 with each packet";
    }
    PA_SC_MPASS_PS_CNTL = 0x28a48, 1 every 4, number, "multi-pass" {
        MPASS_PIX_VEC_PER_PASS 19:0 [] "";
        MPASS_PS_ENA 31:31 [] "";
    }
    PA_SC_MODE_CNTL = 0x28a4c, 1 every 4, number, "samples, scissors, patterns" {
        MSAA_ENABLE 0:0 [] "0: coverage is that of the pixel centre for all samples";
        CLIPRECT_ENABLE 1:1 [] "apply the clip rectangles";
        LINE_STIPPLE_ENABLE 2:2 [] "";
        MULTI_CHIP_PRIM_DISCARD_ENAB 3:3 [] "";
        WALK_ORDER_ENABLE 4:4 [] "";
        HALVE_DETAIL_SAMPLE_PERF 5:5 [] "";
        WALK_SIZE 6:6 [] "";
        WALK_ALIGNMENT 7:7 [] "";
        WALK_ALIGN8_PRIM_FITS_ST 8:8 [] "";
        TILE_COVER_NO_SCISSOR 9:9 [] "";
        KILL_PIX_POST_HI_Z 10:10 [] "drop pixels";
        KILL_PIX_POST_DETAIL_MASK 11:11 [] "drop pixels";
        MULTI_CHIP_SUPERTILE_ENABLE 12:12 [] "";
        TILE_COVER_DISABLE 13:13 [] "";
        FORCE_EOV_CNTDWN_ENABLE 14:14 [] "";
        FORCE_EOV_TILE_ENABLE 15:15 [] "";
        FORCE_EOV_REZ_ENABLE 16:16 [] "";
        PS_ITER_SAMPLE 17:17 [] "run the pixel program once per sample";
        R700_ZMM_LINE_OFFSET 20:20 [] "depth handling for lines";
        R700_VPORT_SCISSOR_ENABLE 22:22 [] "apply PA_SC_VPORT_SCISSOR_i";
    }
    PA_SC_LINE_CNTL = 0x28c00, 1 every 4, number, "how lines are drawn" {
        BRES_CNTL 7:0 [] "Bresenham bias";
        USE_BRES_CNTL 8:8 [] "use it";
        EXPAND_LINE_WIDTH 9:9 [] "widen for diagonal lines so that the perpendicular width is right";
        LAST_PIXEL 10:10 [] "draw the last pixel of a line";
    }
    PA_SC_AA_CONFIG = 0x28c04, 1 every 4, number, "samples of a pixel" {
        MSAA_NUM_SAMPLES 1:0 [] "log2 of the sample count";
        AA_MASK_CENTROID_DTMN 4:4 [] "take the mask into account for centroids";
        MAX_SAMPLE_DIST 16:13 [] "largest sample coordinate, 1/16 pixel";
    }
    PA_SC_AA_SAMPLE_LOCS_MCTX = 0x28c1c, 1 every 4, number, "places of samples 0 to 3: a byte each, x in its low half, y in its high half, signed, in 1/16 pixel from the centre" {}
    PA_SC_AA_SAMPLE_LOCS_8S_WD1_MCTX = 0x28c20, 1 every 4, number, "places of samples 4 to 7" {}
    PA_SC_AA_MASK = 0x28c48, 1 every 4, number, "samples that may be covered: a byte for each pixel of a quad" {}
}

/// SC and GB of the R500: scissors, edges, samples.
pub(crate) mod r500 {
    registers! {
        GB_MSPOS0 = 0x04010, 1 every 4, number, "places of samples 0 to 2, in 1/12 pixel" {
            MS_X0 3:0 [] "";
            MS_Y0 7:4 [] "";
            MS_X1 11:8 [] "";
            MS_Y1 15:12 [] "";
            MS_X2 19:16 [] "";
            MS_Y2 23:20 [] "";
            MSBD0_Y 27:24 [] "least row of a sample";
            MSBD0_X 31:28 [] "least column of a sample";
        }
        GB_MSPOS1 = 0x04014, 1 every 4, number, "places of samples 3 to 5, in 1/12 pixel" {
            MS_X3 3:0 [] "";
            MS_Y3 7:4 [] "";
            MS_X4 11:8 [] "";
            MS_Y4 15:12 [] "";
            MS_X5 19:16 [] "";
            MS_Y5 23:20 [] "";
            MSBD1 27:24 [] "greatest distance of a sample";
        }
        GB_AA_CONFIG = 0x04020, 1 every 4, number, "several samples a pixel" {
            AA_ENABLE 0:0 [] "";
            NUM_AA_SUBSAMPLES 2:1 [0 "2_SUBSAMPLES", 1 "3_SUBSAMPLES", 2 "4_SUBSAMPLES", 3 "6_SUBSAMPLES"] "how many";
        }
        SC_HYPERZ_EN = 0x043a4, 1 every 4, number, "coarse depth" {
            HZ_EN 0:0 [] "in use; the kernel clears it";
            HZ_MAX 1:1 [] "the coarse depth is a maximum";
            HZ_ADJ 4:2 [] "";
            HZ_Z0MIN 5:5 [] "";
            HZ_Z0MAX 6:6 [] "";
        }
        SC_EDGERULE = 0x043a8, 1 every 4, number, "pixels on edges" {
            ER_TRI 4:0 [] "of triangles";
            ER_POINT 9:5 [] "of points";
            ER_LINE_LR 14:10 [] "of lines from left to right";
            ER_LINE_RL 19:15 [] "of lines from right to left";
            ER_LINE_TB 24:20 [] "of lines from top to bottom";
            ER_LINE_BT 29:25 [] "of lines from bottom to top";
        }
        SC_CLIP_0_A = 0x043b0, 4 every 8, number, "clip rectangle, left and top" {
            XS0 12:0 [] "left";
            YS0 25:13 [] "top";
        }
        SC_CLIP_0_B = 0x043b4, 4 every 8, number, "clip rectangle, last column and row" {
            XS1 12:0 [] "last column";
            YS1 25:13 [] "last row";
        }
        SC_CLIP_RULE = 0x043d0, 1 every 4, number, "which pixels are visible, by the rectangles that they lie in" {
            CLIP_RULE 15:0 [] "bit n: those for which `in rectangle k` is bit k of n";
        }
        SC_SCISSOR0 = 0x043e0, 1 every 4, number, "scissor, left and top" {
            XS0 12:0 [] "left";
            YS0 25:13 [] "top";
        }
        SC_SCISSOR1 = 0x043e4, 1 every 4, number, "scissor, last column and row" {
            XS1 12:0 [] "last column";
            YS1 25:13 [] "last row";
        }
        SC_SCREENDOOR = 0x043e8, 1 every 4, number, "samples that are drawn: six bits for each pixel of a quad" {
            SCREENDOOR 23:0 [] "";
        }
    }
}
